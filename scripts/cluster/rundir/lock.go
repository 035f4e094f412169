package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var (
	// ErrNotRunning says that no cluster of that name runs.
	ErrNotRunning = errors.New("not running")
	// ErrBusy says that another process starts or stops the same cluster.
	ErrBusy = errors.New("another up or down of this cluster is at work")
)

// Alone keeps a second up or down of the same cluster away. Its lock lies next to the folder, which is deleted.
func (d Dir) Alone() (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(string(d)), 0o755); err != nil {
		return nil, err
	}
	file, err := lock(string(d) + ".lock")
	return func() { file.Close() }, err
}

// Hold takes the lock that the cluster has for as long as any process has the file open. The kernel drops it with the
// last one, so it is never stale.
func (d Dir) Hold() (*os.File, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	return lock(d.Path("lock"))
}

// Lives reports whether a process of the cluster runs.
func (d Dir) Lives() (bool, error) {
	if _, err := os.Stat(d.Path("lock")); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	file, err := lock(d.Path("lock"))
	if errors.Is(err, ErrBusy) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, file.Close()
}

func lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrBusy
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
