package world

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/test/faults/proxy"
)

// Defaults are what an installation of the operator sets, and an upgrade may change.
type Defaults struct{ Image, Agent, Architectures string }

func (d Defaults) environment() []string {
	return []string{
		"RELATED_IMAGE_MEMCACHED=" + d.Image, "RELATED_IMAGE_AGENT=" + d.Agent, "OPERAND_ARCHITECTURES=" + d.Architectures,
	}
}

// Launch is how an operator is started.
type Launch struct {
	Program string // one of Programs
	Defaults

	Monitored bool // serves metrics and profiles, see Operator.Process
}

// Operator is a process of the operator, and the proxy that it connects through.
type Operator struct {
	*proxy.Proxy
	monitor.Process // addresses only where it is monitored

	launch  Launch
	command *exec.Cmd
	ended   chan struct{}
}

// First returns the regular operator. It may have been killed and not been replaced yet.
func (w *World) First() *Operator {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.operators[0]
}

// Start starts the regular operator, or another one beside those that run. None of them elects a leader.
func (w *World) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	operator, err := w.start(w.next)
	if err == nil {
		w.operators = append(w.operators, operator)
	}
	return err
}

// Replace kills an operator, unless that is done, and starts one in its place.
func (w *World) Replace(operator *Operator) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replace(operator)
}

// Upgrade replaces the regular operator by one that is started differently, as do later restarts.
func (w *World) Upgrade(change func(*Launch)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.next)
	return w.replace(w.operators[0])
}

// KillOthers leaves only the regular operator.
func (w *World) KillOthers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, operator := range w.operators[1:] {
		operator.Kill()
	}
	w.operators = w.operators[:1]
}

// replace does nothing for an operator that has been replaced, or where the run is over.
func (w *World) replace(operator *Operator) error {
	i := slices.Index(w.operators, operator)
	if i < 0 || w.ended {
		return nil
	}
	operator.Kill()
	var err error
	w.operators[i], err = w.start(w.next)
	return err
}

func (w *World) start(launch Launch) (*Operator, error) {
	o := &Operator{launch: launch, ended: make(chan struct{})}
	var err error
	if o.Proxy, err = proxy.Start(w.OperatorConfig); err != nil {
		return nil, err
	}
	if err := o.run(w); err != nil {
		o.Close()
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	go func() { _ = o.command.Wait(); close(o.ended) }()
	return o, nil
}

func (o *Operator) run(w *World) error {
	kubeconfig, err := os.CreateTemp(w.Dir, "kubeconfig-")
	if err != nil {
		return err
	}
	_ = kubeconfig.Close()
	if err := o.Kubeconfig(kubeconfig.Name()); err != nil {
		return err
	}
	log, err := os.OpenFile(w.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	flags := []string{"--metrics-bind-address=0"}
	if o.launch.Monitored {
		if o.Metrics, o.Profiles, err = monitor.FreeAddresses(); err != nil {
			return err
		}
		flags = o.Flags()
	}
	flags = append(flags, "--watch-namespaces="+w.Namespace, "--health-probe-bind-address=0")
	o.command = exec.Command(o.launch.Program, flags...)
	o.command.Env = append(o.launch.environment(),
		"KUBECONFIG="+kubeconfig.Name(), "HOME="+w.Dir, "KUBE_CACHE_MUTATION_DETECTOR=true")
	o.command.Stdout, o.command.Stderr = log, log
	if err := o.command.Start(); err != nil {
		return err
	}
	o.Pid = o.command.Process.Pid
	return nil
}

// Log is the path of the log of all operators of the run.
func (w *World) Log() string { return filepath.Join(w.Dir, "operator.log") }

// Runs reports whether the process runs.
func (o *Operator) Runs() bool {
	select {
	case <-o.ended:
		return false
	default:
		return true
	}
}

// Signal sends the process a signal.
func (o *Operator) Signal(signal syscall.Signal) error { return o.command.Process.Signal(signal) }

// Kill ends the process the hard way, and its connections.
func (o *Operator) Kill() {
	_ = o.command.Process.Kill()
	<-o.ended
	o.Close()
}
