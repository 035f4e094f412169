package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// Operator is the operator's own binary as a process.
type Operator struct {
	monitor.Process

	// Started is when the process was started.
	Started time.Time

	cmd   *exec.Cmd
	log   string
	ended chan error
}

// stopTimeout is longer than the operator takes to stop.
const stopTimeout = 45 * time.Second

// StartOperator starts the operator for all namespaces, with the flags of its Deployment, and with the given flags.
func (e *Environment) StartOperator(ctx context.Context, flags ...string) (*Operator, error) {
	var process monitor.Process
	var err error
	if process.Metrics, process.Profiles, err = monitor.FreeAddresses(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(e.folders.Run, "operator.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := e.command(ctx, "manager", append([]string{
		"--leader-elect", "--leader-election-namespace=" + install.Namespace,
		"--health-probe-bind-address=0",
	}, append(process.Flags(), flags...)...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	o := &Operator{cmd: cmd, log: log.Name(), ended: make(chan error, 1), Started: time.Now()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	process.Pid = cmd.Process.Pid
	o.Process = process
	go func() { o.ended <- cmd.Wait() }()
	return o, nil
}

// Stop stops the operator as the kubelet does, and waits for its end. The operator releases its Lease.
func (o *Operator) Stop() error {
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := <-o.ended; err != nil {
		return fmt.Errorf("the operator ended: %w\n%s", err, rundir.Tail(o.log))
	}
	return nil
}

// CreateByBaseline runs the baseline, which creates the objects of all Memcacheds, and returns when it was started.
func (e *Environment) CreateByBaseline(ctx context.Context, inFlight int) (time.Time, error) {
	return e.runBaseline(ctx, "--template="+e.templateFile(), fmt.Sprintf("--in-flight=%d", inFlight))
}

// List makes the baseline list all objects that the operator caches, and returns how long that took.
func (e *Environment) List(ctx context.Context) (time.Duration, error) {
	started, err := e.runBaseline(ctx)
	return time.Since(started), err
}

func (e *Environment) runBaseline(ctx context.Context, args ...string) (time.Time, error) {
	cmd, started := e.command(ctx, "baseline", args...), time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return started, fmt.Errorf("baseline %v: %w\n%s", args, err, out)
	}
	return started, nil
}

func (e *Environment) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(e.folders.Programs, program), args...)
	cmd.Env = []string{"KUBECONFIG=" + e.kubeconfig, "HOME=" + e.folders.Run}
	return cmd
}
