package builds

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
)

const rootModule = "github.com/example-inc/memcached-operator"

// Root returns the folder of the repository: the first one upwards that holds its go.mod.
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

// CacheHome returns the folder that holds all that is kept outside of the tree.
func CacheHome() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the cache: %w", err)
	}
	return filepath.Join(base, "memcached-operator"), nil
}

// version reads the pin from the wrapper's go.mod, the one place that states it.
func (w *wrapper) version(root string) (string, error) {
	file := filepath.Join(root, w.dir, "go.mod")
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s, which pins %s, is missing", filepath.Join(w.dir, "go.mod"), w.module)
	}
	if err != nil {
		return "", err
	}
	parsed, err := modfile.Parse(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, require := range parsed.Require {
		if require.Mod.Path == w.module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s doesn't require %s", filepath.Join(w.dir, "go.mod"), w.module)
}

// cacheDir names the folder after all that decides what comes out of a build, so that a changed
// pin, compiler or flag never finds yesterday's programs.
func (w *wrapper) cacheDir(root, version string) (string, error) {
	home, err := CacheHome()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	err = filepath.WalkDir(filepath.Join(root, w.dir), func(file string, entry fs.DirEntry, err error) error {
		if name := filepath.Base(file); err != nil || entry.IsDir() ||
			name != "go.mod" && name != "go.sum" && filepath.Ext(name) != ".go" {
			return err
		}
		content, err := os.ReadFile(file)
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(content), content)
		return err
	})
	if err != nil {
		return "", err
	}
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(w.flags(version), " "))
	key := fmt.Sprintf("%s-%s-%x", w.component, version, hash.Sum(nil)[:6])
	return filepath.Join(home, "bin", key), nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// outputName is what `go build` calls the program of a package: the last element of its path that
// isn't a major version.
func outputName(pkg string) string {
	if base := path.Base(pkg); !majorVersion.MatchString(base) {
		return base
	}
	return path.Base(path.Dir(pkg))
}
