package world

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/variants"
)

// process is a process of the operator.
type process struct {
	launch    Launch
	command   *exec.Cmd
	monitored monitor.Process // has addresses only if the process is monitored
	alive     io.Closer       // when this closes, the process ends; so it ends with the campaign
	meant     atomic.Bool     // whether the end is intended
	ended     chan struct{}   // closed when it has ended
}

// restartAfter is the time after which a process that ended by itself is replaced. A kubelet waits 10 seconds, and
// longer each time.
const restartAfter = time.Second

// start starts a process. The caller must hold the lock of the operator, unless no other goroutine has the operator
// yet.
func (o *Operator) start(launch Launch) (*process, error) {
	kubeconfig, err := newFile(o.world.Dir, "kubeconfig-")
	if err != nil {
		return nil, err
	}
	if err := o.Kubeconfig(kubeconfig); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(o.world.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{launch: launch, ended: make(chan struct{})}
	flags, err := p.flags()
	if err != nil {
		return nil, err
	}
	p.command = exec.Command(launch.Program, append(flags, "--watch-namespaces="+o.world.Namespace)...)
	p.command.Env = append(launch.environment(), "KUBECONFIG="+kubeconfig, "HOME="+o.world.Dir,
		variants.ClockFile+"="+o.clock)
	if !launch.Monitored { // The mutation detector keeps copies of cached objects. They would be measured, too.
		p.command.Env = append(p.command.Env, "KUBE_CACHE_MUTATION_DETECTOR=true")
	}
	p.command.Stdout, p.command.Stderr = log, log
	if p.alive, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	o.Reset()
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	p.monitored.Pid = p.command.Process.Pid
	go o.wait(p)
	return p, nil
}

// wait replaces a process that ends by itself, as a kubelet does.
func (o *Operator) wait(p *process) {
	err := p.command.Wait()
	close(p.ended)
	if p.meant.Load() {
		return
	}
	o.world.Note(fmt.Sprintf("%s: %v", history.EndedByItself, err))
	time.Sleep(restartAfter)
	o.revive(p)
}

func (p *process) flags() (flags []string, err error) {
	flags = []string{"--metrics-bind-address=0"}
	if p.launch.Monitored {
		p.monitored.Metrics, p.monitored.Profiles, err = monitor.FreeAddresses()
		flags = p.monitored.Flags()
	}
	if p.launch.Reports != "" {
		flags = append(flags, "--usage-interval=1s", "--usage-proxy="+p.launch.Reports)
	}
	return append(flags, "--health-probe-bind-address=0"), err
}

func (p *process) signal(signal syscall.Signal) error { return p.command.Process.Signal(signal) }

func (p *process) kill() {
	p.meant.Store(true)
	_ = p.command.Process.Kill()
	<-p.ended
	_ = p.alive.Close()
}

// Log is the path of the log of all operators of the run.
func (w *World) Log() string { return filepath.Join(w.Dir, "operator.log") }

// Logged returns the lines of this log for which matches returns true.
func (w *World) Logged(matches func(line string) bool) (lines []string, err error) {
	content, err := os.ReadFile(w.Log())
	for line := range strings.Lines(string(content)) {
		if matches(line) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines, err
}

// StepClock sets by how much the clock of an operator is ahead of the real one. Only the wall clock jumps, as if a time
// server corrected it. The monotonic clock does not change.
func (o *Operator) StepClock(ahead time.Duration) error {
	seconds := strconv.FormatInt(int64(ahead/time.Second), 10)
	if err := os.WriteFile(o.clock, []byte(seconds), 0o600); err != nil {
		return err
	}
	_ = o.current().signal(variants.ClockSignal) // If the process has ended, the next one reads the file.
	return nil
}

func newFile(dir, pattern string) (path string, err error) {
	file, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}
