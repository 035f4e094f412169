package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// Operator is the operator's own binary as a process.
type Operator struct {
	// Started is when the process was.
	Started time.Time

	metrics, profiles string // addresses
	cmd               *exec.Cmd
	log               string
	ended             chan error
}

// endTimeout is longer than the operator takes to end in order.
const endTimeout = 45 * time.Second

// StartOperator starts the operator for all namespaces, with the flags that its Deployment has, and more.
func (l *Lab) StartOperator(ctx context.Context, flags ...string) (*Operator, error) {
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	profiles, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(l.dir, "operator.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	flags = append([]string{
		"--leader-elect", "--leader-election-namespace=" + Namespace, "--health-probe-bind-address=0",
		"--metrics-insecure", "--metrics-bind-address=" + metrics, "--pprof-bind-address=" + profiles,
	}, flags...)
	cmd := exec.CommandContext(ctx, l.Programs.Manager, flags...)
	cmd.Env = []string{"KUBECONFIG=" + l.Kubeconfig, "HOME=" + l.dir}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTimeout
	o := &Operator{
		metrics: metrics, profiles: profiles, cmd: cmd, log: log.Name(), ended: make(chan error, 1), Started: time.Now(),
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { o.ended <- cmd.Wait() }()
	return o, nil
}

// Stop ends the operator as the kubelet does, and waits for it. It gives its lease back.
func (o *Operator) Stop() error {
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := <-o.ended; err != nil {
		return fmt.Errorf("the operator ended: %w\n%s", err, rundir.Tail(o.log))
	}
	return nil
}

// RunFloor runs the floor to its end, and returns when it was started.
func (l *Lab) RunFloor(ctx context.Context, args ...string) (time.Time, error) {
	cmd := exec.CommandContext(ctx, l.Programs.Floor, args...)
	cmd.Env = []string{"KUBECONFIG=" + l.Kubeconfig, "HOME=" + l.dir}
	started := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return started, fmt.Errorf("floor %v: %w\n%s", args, err, out)
	}
	return started, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
