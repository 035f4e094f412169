package world

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/internal/testing/proxy"
)

// Defaults are the settings of an installation of the operator that an upgrade may change.
type Defaults struct{ Image, Agent, Architectures string }

func (d Defaults) environment() []string {
	return []string{
		"RELATED_IMAGE_MEMCACHED=" + d.Image, "RELATED_IMAGE_AGENT=" + d.Agent, "OPERAND_ARCHITECTURES=" + d.Architectures,
	}
}

// Launch has the settings with which an operator is started.
type Launch struct {
	Program string // one of Programs
	Defaults

	Monitored bool // whether it serves metrics and profiles, see Operator.Process

	// Reports is the URL of a proxy that answers instead of the agents of Pods. It is empty if no such proxy runs.
	Reports string
}

// Operator is an operator that is kept running, as by a Deployment: if its process ends, another process replaces it.
// All its processes connect through the same proxy, and have the same clock.
type Operator struct {
	*proxy.Proxy

	world *World
	clock string // file

	mu      sync.Mutex
	process *process
	over    bool
}

// First returns the regular operator.
func (w *World) First() *Operator {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.operators[0]
}

// Start starts the regular operator, or another one in addition to the running ones. None of them elects a leader.
func (w *World) Start() error {
	_, err := w.StartAnother(func(*Launch) {})
	return err
}

// StartAnother starts an additional operator, with changes to the settings of the regular one.
func (w *World) StartAnother(change func(*Launch)) (*Operator, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	launch := w.next
	change(&launch)
	o, err := w.newOperator(launch)
	if err == nil {
		w.operators = append(w.operators, o)
	}
	return o, err
}

// Remove ends an operator for good.
func (w *World) Remove(o *Operator) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.operators = slices.DeleteFunc(w.operators, func(other *Operator) bool { return o == other })
	o.remove()
}

// KillOthers kills all operators except the regular one.
func (w *World) KillOthers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.operators[1:] {
		o.remove()
	}
	w.operators = w.operators[:1]
}

// Replace kills an operator's process, unless it has already ended, and starts another one.
func (w *World) Replace(o *Operator) error { return o.restart(func(*Launch) {}) }

// Upgrade replaces the regular operator by one with changed settings. Later restarts use the changed settings, too.
func (w *World) Upgrade(change func(*Launch)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.next)
	next := w.next
	return w.operators[0].restart(func(launch *Launch) { *launch = next })
}

func (w *World) newOperator(launch Launch) (*Operator, error) {
	p, err := proxy.Start(w.OperatorConfig,
		"memcacheds", "deployments", "services", "networkpolicies", "poddisruptionbudgets", "pods")
	if err != nil {
		return nil, err
	}
	p.Delayed = w.Delayed
	o := &Operator{Proxy: p, world: w}
	if o.clock, err = newFile(w.Dir, "clock-"); err == nil {
		o.process, err = o.start(launch)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return o, nil
}

// restart replaces the process by one with changed settings. It does nothing if the operator was removed, or the run is
// over.
func (o *Operator) restart(change func(*Launch)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return nil
	}
	launch := o.process.launch
	change(&launch)
	o.process.kill()
	next, err := o.start(launch)
	if err == nil {
		o.process = next
	}
	return err
}

func (o *Operator) remove() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.process.kill()
	o.Close()
}

// Ending is a function that ends a process.
type Ending func(*process)

// Kill ends the process by SIGKILL.
func Kill(p *process) { p.kill() }

// stopsWithin is how long an operator may take to end after a signal.
const stopsWithin = 5 * time.Second

// Terminate sends the process a signal to end, and kills it if it does not end.
func Terminate(p *process) {
	p.meant.Store(true)
	_ = p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopsWithin):
		p.kill()
	}
}

// Crash ends the process, and starts another one after a time, or immediately when over is closed. It does nothing if
// the process has been replaced in the meantime.
func (o *Operator) Crash(end Ending, down time.Duration, over <-chan struct{}) {
	crashed := o.current()
	end(crashed)
	select {
	case <-time.After(down):
	case <-over:
	}
	o.revive(crashed)
}

// revive starts another process instead of the ended one, unless it was already replaced.
func (o *Operator) revive(ended *process) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || o.process != ended {
		return
	}
	next, err := o.start(ended.launch)
	if err != nil {
		o.world.Fail(err)
		return
	}
	o.process = next
}

// Process returns the current process, for its metrics and profiles.
func (o *Operator) Process() monitor.Process { return o.current().monitored }

// Hang stops the process until it is resumed.
func (o *Operator) Hang() (resume func()) {
	process, began := o.current(), time.Now()
	_ = process.signal(syscall.SIGSTOP)
	return func() {
		_ = process.signal(syscall.SIGCONT)
		o.world.Delayed("the operator hangs", began)
	}
}

func (o *Operator) current() *process {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.process
}

// runs reports whether the current process was started with these settings.
func (o *Operator) runs(launch Launch) bool {
	process := o.current()
	select {
	case <-process.ended:
		return false
	default:
		return process.launch == launch
	}
}
