package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

const (
	readyTimeout  = 2 * time.Minute
	probeInterval = 100 * time.Millisecond
	maxBackoff    = 10 * time.Second
	maxFirstExits = 3 // exits after which a part that never was ready is given up
)

// part is one process of the cluster.
type part struct {
	name  string
	path  string
	args  []string
	env   []string
	ready func(context.Context) error

	exits atomic.Int32
}

// startParts starts parts side by side and returns when all are ready, or one can't be.
func (s *supervisor) startParts(ctx context.Context, parts ...*part) error {
	var group errgroup.Group
	for _, p := range parts {
		group.Go(func() error {
			log, err := s.Dir.OpenLog(p.name)
			if err != nil {
				return err
			}
			go s.keepRunning(ctx, p, log)
			if err := p.awaitReady(ctx); err != nil {
				return fmt.Errorf("%s did not start: %w\n%s", p.name, err, rundir.Tail(s.Dir.Log(p.name)))
			}
			return s.tell(Event{Part: p.name})
		})
	}
	return group.Wait()
}

// keepRunning runs a part, again and again with growing pauses, until the context ends.
func (s *supervisor) keepRunning(ctx context.Context, p *part, log *os.File) {
	defer log.Close()
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Steps: 16, Cap: maxBackoff}
	for ctx.Err() == nil {
		started := time.Now()
		err := s.command(ctx, p, log).Run()
		p.exits.Add(1)
		if time.Since(started) > maxBackoff {
			backoff.Duration = 250 * time.Millisecond // it had run well
		}
		pause := backoff.Step()
		fmt.Fprintf(log, "--- supervisor: %s ended (%v), starting it again in %s\n", p.name, err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// command gives a part only the environment it needs: a proxy or a kubeconfig of the user's would
// lead it out of the cluster.
func (s *supervisor) command(ctx context.Context, p *part, log *os.File) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Args[0] = p.name // what ps shows, what Parts goes by, and what tells Argo CD's binary who it is
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=" + s.path(), "HOME=/tmp", "TMPDIR=/tmp"}, p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

func (p *part) awaitReady(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, probeInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		if p.exits.Load() >= maxFirstExits {
			return false, errors.New("it ends whenever it is started")
		}
		last = p.ready(ctx)
		return last == nil, nil
	})
	if wait.Interrupted(err) && last != nil {
		return fmt.Errorf("not ready after %s: %w", readyTimeout, last)
	}
	return err
}

func joinPath(dirs []string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
