// Package rundir has the paths of the files in the folder of one cluster, and the locks that show whether the cluster
// runs. The paths are the same inside of the cluster's namespaces and outside.
package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Dir is the folder of one cluster. The whole folder is deleted with the cluster.
type Dir string

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,19}$`)

// maxDir is the maximum length of the folder's path. With it, the path of the kubelet's socket has at most the 107
// bytes that the kernel allows.
const maxDir = 107 - len("/kubelet/device-plugins/kubelet.sock")

// Named returns the folder of the cluster with this name.
func Named(name string) (Dir, error) {
	if !validName.MatchString(name) {
		return "", fmt.Errorf("cluster name %q: want at most 20 lower case letters, digits and dashes", name)
	}
	home, err := builds.CacheHome()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, "clusters", name)
	if len(dir) > maxDir {
		return "", fmt.Errorf("the path %s is too long for sockets in this folder: set XDG_CACHE_HOME to a shorter path", dir)
	}
	return Dir(dir), nil
}

// Path returns the path of a file or folder in the run directory.
func (d Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Logs returns the folder of the logs, which has one file for each process.
func (d Dir) Logs() string { return d.Path("log") }

// Log returns the log file of one process.
func (d Dir) Log(name string) string { return d.Path("log", name+".log") }

// PKI returns the path of a certificate or key.
func (d Dir) PKI(name string) string { return d.Path("pki", name) }

// Kubeconfig returns the kubeconfig file of a user of the API server.
func (d Dir) Kubeconfig(user string) string { return d.Path("pki", user+".kubeconfig") }

// State returns the file that describes the cluster. It exists once the cluster is ready.
func (d Dir) State() string { return d.Path("state.json") }

// Pid returns the file with the supervisor's process id. As long as the cluster runs, no other process group can have
// this id.
func (d Dir) Pid() string { return d.Path("pid") }

// Config returns the file with the configuration of the supervisor.
func (d Dir) Config() string { return d.Path("config.json") }

// OpenLog opens the log of one process, to append to it.
func (d Dir) OpenLog(name string) (*os.File, error) {
	if err := os.MkdirAll(d.Logs(), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(d.Log(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

// Tail returns the end of a log, and the path of the log.
func Tail(log string) string {
	const lines, bytesRead = 12, 16 << 10
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	content = content[max(0, len(content)-bytesRead):]
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return fmt.Sprintf("  %s\n(log: %s)", strings.Join(all[max(0, len(all)-lines):], "\n  "), log)
}

// WriteJSON replaces a file in one step, so that a reader sees the old content or the new content, but never half of
// it.
func WriteJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := worktree.WriteFile(path+".new", append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(path string, value any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

// ErrBusy means that another process is starting or stopping the same cluster.
var ErrBusy = errors.New("another up or down of this cluster is in progress")

// Alone makes sure that only one up or down of the same cluster runs at a time. Its lock is next to the cluster's
// folder, because the folder is deleted.
func (d Dir) Alone() (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(string(d)), 0o755); err != nil {
		return nil, err
	}
	file, err := lock(string(d) + ".lock")
	return func() { file.Close() }, err
}

// Hold takes the lock of the cluster. The kernel releases the lock when the last process that has the file open ends,
// so the lock is never stale.
func (d Dir) Hold() (*os.File, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	return lock(d.Path("lock"))
}

// Lives reports whether any process of the cluster runs.
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
