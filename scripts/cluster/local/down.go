package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/sandbox"
)

// stopTimeout is how long the kernel may take to end all processes of a cluster.
const stopTimeout = 30 * time.Second

// Down stops a cluster and removes all its files and processes, even if it was killed or never became ready. It reports
// whether it found anything to remove.
func Down(ctx context.Context, name string) (found bool, err error) {
	dir, err := rundir.Named(name)
	if err != nil {
		return false, err
	}
	release, err := dir.Alone()
	if err != nil {
		return false, err
	}
	defer release()
	_, err = os.Stat(string(dir))
	return err == nil, clean(ctx, dir)
}

func clean(ctx context.Context, dir rundir.Dir) error {
	if err := stop(ctx, dir); err != nil {
		return err
	}
	return os.RemoveAll(string(dir))
}

// stop ends all processes of a cluster. It kills the supervisor's process group. If the supervisor is isolated, the
// kernel then ends all processes in its namespaces. The cluster's lock is free once no process of the process group is
// left, and the control group can be removed once no process is left in it.
func stop(ctx context.Context, dir rundir.Dir) error {
	lives, err := dir.Lives()
	if err != nil {
		return err
	}
	if lives {
		var pid int
		if err := rundir.ReadJSON(dir.Pid(), &pid); err != nil {
			return err
		}
		if err := unix.Kill(-pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("stop the process group %d: %w", pid, err)
		}
	}
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, stopTimeout, true, func(context.Context) (bool, error) {
		lives, err := dir.Lives()
		return !lives, err
	})
	if err != nil {
		return fmt.Errorf("processes of the cluster in %s still run: %w", dir, err)
	}
	return sandbox.Remove(ctx, sandbox.Cgroup(string(dir)))
}
