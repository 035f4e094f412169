// Package builds makes the programs of the local cluster from Go modules, whose versions the go.mod files next to it
// pin. It keeps the programs in the user's cache, where other clones of the repository find them.
package builds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"golang.org/x/mod/modfile"
)

const rootModule = "github.com/example-inc/memcached-operator"

// Root returns the folder of the repository: the first folder, from the current one upwards, that has the repository's
// go.mod.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(content) == rootModule {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the repository of %s", start, rootModule)
		}
	}
}

// CacheHome returns the folder for everything that is kept outside of the tree.
func CacheHome() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for the cache: %w", err)
	}
	return filepath.Join(base, "memcached-operator"), nil
}

// Ensure builds the components that the cache does not have, and returns the path of each program of all components, by
// its name.
func Ensure(ctx context.Context, components ...*Component) (map[string]string, error) {
	binaries := map[string]string{}
	var missing []*Component
	for _, c := range components {
		dir, err := c.cacheDir()
		if err != nil {
			return nil, err
		}
		for _, p := range c.programs {
			binaries[p.name] = filepath.Join(dir, p.name)
		}
		if !exists(dir) {
			missing = append(missing, c)
		}
	}
	var fetching sync.WaitGroup
	defer fetching.Wait()
	background, stop := context.WithCancel(ctx)
	defer stop()
	fetching.Go(func() { fetch(background, missing[min(1, len(missing)):]) })
	for _, c := range missing {
		if err := c.build(ctx); err != nil {
			return nil, err
		}
	}
	return binaries, nil
}

// Assets builds the programs that tests against a real API server need, including those that simulate Nodes. It returns
// the folder that has etcd and kube-apiserver, as envtest expects.
func Assets(ctx context.Context) (dir string, err error) {
	binaries, err := Ensure(ctx, Simulated()...)
	return filepath.Dir(binaries["kube-apiserver"]), err
}

// Self returns the path of the cluster program, for its hidden command `supervise`. If the calling program is the
// cluster program, as with `go run ./scripts/cluster`, Self returns its path. Otherwise it builds the program from this
// tree, which takes a second if nothing has changed.
func Self(ctx context.Context) (string, error) {
	const program = rootModule + "/scripts/cluster"
	if info, ok := debug.ReadBuildInfo(); ok && info.Path == program {
		return os.Executable()
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	home, err := CacheHome()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, "bin", "cluster-"+hash(root))
	// The program is built in another folder, because the compiler would first remove the previous program, which another
	// process may be starting.
	built, err := scratch(dir)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(built)
	path, next := filepath.Join(dir, "cluster"), filepath.Join(built, "cluster")
	_, err = runGo(ctx, root, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", next, program)
	if err != nil {
		return "", err
	}
	return path, os.Rename(next, path)
}

// scratch makes a temporary folder in dir. What is built in the folder is moved to its final place in dir when it is
// complete.
func scratch(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, ".building-")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
