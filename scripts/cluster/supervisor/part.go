package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

const (
	readyTimeout  = 2 * time.Minute
	probeInterval = 50 * time.Millisecond
	maxBackoff    = 10 * time.Second
	maxFirstExits = 3 // the start fails if a process exits so often and was never ready
)

// part is one process of the cluster, as config/parts.yaml describes it.
type part struct {
	Name    string   `json:"name"`    // name of its log, and the name that ps shows
	Program string   `json:"program"` // name of its program in Binaries, if it differs from Name
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Ready   string   `json:"ready"` // the address to probe; if this is empty, the part counts as ready when it runs

	runs  atomic.Bool
	exits atomic.Int32
}

func (s *supervisor) readParts() error {
	content, err := s.render("parts.yaml", firstNode)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(content, &s.parts)
}

// startParts starts processes at the same time. It returns when all are ready, or when one of them failed to become
// ready.
func (s *supervisor) startParts(ctx context.Context, names ...string) error {
	var group errgroup.Group
	for _, name := range names {
		i := slices.IndexFunc(s.parts, func(p *part) bool { return p.Name == name })
		group.Go(func() error { return s.startPart(ctx, s.parts[i]) })
	}
	return group.Wait()
}

func (s *supervisor) startPart(ctx context.Context, p *part) error {
	log, err := s.Dir.OpenLog(p.Name)
	if err != nil {
		return err
	}
	s.running.Go(func() { s.keepRunning(ctx, p, log) })
	if err := s.awaitReady(ctx, p); err != nil {
		return fmt.Errorf("%s did not start: %w\n%s", p.Name, err, rundir.Tail(s.Dir.Log(p.Name)))
	}
	return s.send(Event{Part: p.Name})
}

// keepRunning runs a process, and restarts it with growing pauses, until the context ends.
func (s *supervisor) keepRunning(ctx context.Context, p *part, log *os.File) {
	defer log.Close()
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Steps: 16, Cap: maxBackoff}
	for ctx.Err() == nil {
		started := time.Now()
		err := s.run(ctx, p, log)
		p.exits.Add(1)
		if time.Since(started) > maxBackoff {
			backoff.Duration = 250 * time.Millisecond // the process had run for long enough
		}
		pause := backoff.Step()
		fmt.Fprintf(log, "--- supervisor: %s ended (%v), starting it again in %s\n", p.Name, err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (s *supervisor) run(ctx context.Context, p *part, log *os.File) error {
	cmd := s.command(ctx, p)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p.runs.Store(true)
	defer p.runs.Store(false)
	s.children.Store(cmd.Process.Pid, p)
	defer s.children.Delete(cmd.Process.Pid)
	return cmd.Wait()
}

// command returns the command of a process, with only the environment that the process needs. In the user's
// environment, a proxy setting or a kubeconfig could make the process connect to something else.
func (s *supervisor) command(ctx context.Context, p *part) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Binaries[cmp.Or(p.Program, p.Name)], p.Args...)
	cmd.Args[0] = p.Name // for ps, for Parts, and for Argo CD's binary, which chooses its program by it
	cmd.Dir = "/"
	home, tmp := "/tmp", "/tmp"
	if !s.Real {
		home, tmp = string(s.Dir), os.TempDir()
		cmd.ExtraFiles = []*os.File{s.lock} // without namespaces, only the lock shows that a process is left
	}
	cmd.Env = append([]string{"PATH=" + s.path(), "HOME=" + home, "TMPDIR=" + tmp}, p.Env...)
	return cmd
}

// owns reports whether the supervisor started this process, or may have started it.
func (s *supervisor) owns(pid int) bool {
	_, found := s.children.Load(pid)
	return found || s.kubectls.Load() > 0
}

func (s *supervisor) awaitReady(ctx context.Context, p *part) error {
	return await(ctx, func(ctx context.Context) error {
		switch {
		case p.exits.Load() >= maxFirstExits:
			return errGivenUp
		case p.Ready != "":
			return probe(ctx, p.Ready)
		case !p.runs.Load():
			return errors.New("it does not run")
		}
		return nil
	})
}

var errGivenUp = errors.New("the process ends each time that it is started")

// await calls ready again and again until it returns no error. If that takes too long, await returns the last error.
func await(ctx context.Context, ready func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, probeInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		last = ready(ctx)
		if errors.Is(last, errGivenUp) {
			return false, last
		}
		return last == nil, nil
	})
	if wait.Interrupted(err) && last != nil && ctx.Err() == nil {
		return fmt.Errorf("not ready after %s: %w", readyTimeout, last)
	}
	return err
}
