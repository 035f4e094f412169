package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/cgroups"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
)

// stopTimeout is how long the kernel may take to end all processes of a cluster.
const stopTimeout = 30 * time.Second

// Down stops a cluster and removes all that is left of it, also of one that was killed or never
// came up. It reports whether there was anything.
func Down(ctx context.Context, name string) (found bool, err error) {
	dir, release, err := exclusive(name)
	if err != nil {
		return false, err
	}
	defer release()
	return clean(ctx, dir)
}

// clean goes by what is there: a process that holds the lock, control groups, files.
func clean(ctx context.Context, dir rundir.Dir) (found bool, err error) {
	_, err = os.Stat(string(dir))
	found = err == nil
	stopped, err := stop(ctx, dir)
	if err != nil {
		return true, err
	}
	return found || stopped, remove(dir)
}

// stop ends all processes of a cluster. It goes by init, which takes all others with it, and sees
// by the control groups that they are gone.
func stop(ctx context.Context, dir rundir.Dir) (found bool, err error) {
	pid, err := rundir.Holder(dir.Lock())
	if err != nil {
		return false, err
	}
	if pid != 0 {
		if err := terminate(pid, dir.Lock()); err != nil {
			return true, fmt.Errorf("stop process %d: %w", pid, err)
		}
	}
	return pid != 0, cgroups.Remove(ctx, supervisor.CgroupName(dir))
}

// terminate ends the holder of a lock and returns when it is gone for good.
func terminate(pid int, lock string) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The id may have passed on to another process before it was opened; the lock can't have.
	if holder, err := rundir.Holder(lock); err != nil || holder != pid {
		return err
	}
	if err := unix.PidfdSendSignal(fd, syscall.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	// Readable once the process has ended, which the first of a namespace does last of all.
	ready, err := poll(fd, stopTimeout)
	if err == nil && !ready {
		err = fmt.Errorf("it still runs after %s", stopTimeout)
	}
	return err
}

func poll(fd int, timeout time.Duration) (ready bool, err error) {
	deadline := time.Now().Add(timeout)
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}

// remove deletes the run directory, unless something is mounted in it that deleting would reach.
func remove(dir rundir.Dir) error {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return err
	}
	defer mounts.Close()
	for scanner := bufio.NewScanner(mounts); scanner.Scan(); {
		if fields := strings.Fields(scanner.Text()); len(fields) > 1 && strings.HasPrefix(fields[1], string(dir)+"/") {
			return fmt.Errorf("%s is mounted in the run directory, though not by us: unmount it first", fields[1])
		}
	}
	return os.RemoveAll(string(dir))
}
