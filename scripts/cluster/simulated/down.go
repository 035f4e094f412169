package simulated

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

const (
	partTimeout = 5 * time.Second  // that a part has to end in order
	stopTimeout = 10 * time.Second // that the keeper has to end them all
	pollPause   = 20 * time.Millisecond
)

// Down stops a cluster and removes all that is left of it, also of one whose keeper was killed. It reports whether
// there was anything.
func Down(ctx context.Context, name string) (found bool, err error) {
	dir, release, err := exclusive(name)
	if err != nil {
		return false, err
	}
	defer release()
	return clean(ctx, dir)
}

func clean(ctx context.Context, dir rundir.Dir) (found bool, err error) {
	_, err = os.Stat(string(dir))
	found = err == nil
	stopped, err := stop(ctx, dir)
	if err != nil {
		return true, err
	}
	return found || stopped, os.RemoveAll(string(dir))
}

// stop asks the keeper to end, and ends what does not, or has no keeper any more, the hard way.
func stop(ctx context.Context, dir rundir.Dir) (found bool, err error) {
	pid, err := rundir.Holder(dir.Lock())
	if err != nil {
		return false, err
	}
	if pid != 0 {
		if err := unix.Kill(pid, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
			return true, fmt.Errorf("stop process %d: %w", pid, err)
		}
		if awaitEnd(ctx, dir) == nil {
			return true, nil
		}
	}
	alive, err := groupLives(dir)
	if err != nil || !alive {
		return pid != 0, err
	}
	var group int
	if err := rundir.ReadJSON(groupPath(dir), &group); err != nil {
		return true, err
	}
	if err := unix.Kill(-group, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return true, fmt.Errorf("stop the process group %d: %w", group, err)
	}
	return true, awaitEnd(ctx, dir)
}

func awaitEnd(ctx context.Context, dir rundir.Dir) error {
	err := wait.PollUntilContextTimeout(ctx, pollPause, stopTimeout, true, func(context.Context) (bool, error) {
		alive, err := groupLives(dir)
		return !alive, err
	})
	if err != nil {
		return fmt.Errorf("processes of the cluster in %s still run: %w", dir, err)
	}
	return nil
}

// groupLives tells whether any process of the cluster holds the lock that all inherit.
func groupLives(dir rundir.Dir) (bool, error) {
	if _, err := os.Stat(string(dir)); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	release, err := rundir.Exclusive(groupLock(dir))
	if errors.Is(err, rundir.ErrBusy) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	release()
	return false, nil
}
