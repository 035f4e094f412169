package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// ErrBusy says that another process is bringing the same cluster up or down.
var ErrBusy = errors.New("another up or down of this cluster is at work")

// Hold takes the lock that says the cluster lives, for the rest of the calling process's life. It
// is a record lock because the kernel tells everybody which process holds one: no remembered
// process id can be stale, or belong to somebody else by now.
func Hold(path string) error {
	// Never closed: closing any descriptor of the file would drop the lock.
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("open lock %s: %w", path, err)
	}
	if err := unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}

// Holder returns the process that holds the lock, or 0 when no process does.
func Holder(path string) (pid int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("ask for the holder of %s: %w", path, err)
	}
	if lock.Type == unix.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}

// Exclusive keeps other ups and downs of a cluster away until release is called or the process ends.
func Exclusive(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrBusy
		}
		return nil, err
	}
	return func() { file.Close() }, nil
}
