package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

// ErrNotRunning says that no cluster of that name runs.
var ErrNotRunning = errors.New("not running")

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,19}$`)

// Named is the folder of a cluster, among those of its kind.
func Named(kind, name string) (Dir, error) {
	if !validName.MatchString(name) {
		return "", fmt.Errorf("cluster name %q: want at most 20 lower case letters, digits and dashes", name)
	}
	home, err := builds.CacheHome()
	return Dir(filepath.Join(home, kind, name)), err
}

// State is what a cluster tells of itself once it runs.
func (d Dir) State() string { return d.Path("state.json") }

// Running reads what a cluster tells of itself, and returns the process that keeps it, or ErrNotRunning.
func (d Dir) Running(cluster any) (keeper int, err error) {
	keeper, err = Holder(d.Lock())
	if err != nil {
		return 0, err
	}
	if keeper == 0 {
		return 0, ErrNotRunning
	}
	err = ReadJSON(d.State(), cluster)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("just being started: %w", ErrNotRunning)
	}
	return keeper, err
}

// Alone keeps a second up or down of the same cluster away. Its lock lies beside the folder, which comes and goes.
func (d Dir) Alone() (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(string(d)), 0o755); err != nil {
		return nil, err
	}
	return Exclusive(string(d) + ".lock")
}
