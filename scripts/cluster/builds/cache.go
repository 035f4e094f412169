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

// Root returns the folder of the repository: the first one upwards that has its go.mod.
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

// CacheHome returns the folder for all that is kept outside of the tree.
func CacheHome() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the cache: %w", err)
	}
	return filepath.Join(base, "memcached-operator"), nil
}

func (c *component) dir(root string) string { return filepath.Join(root, path.Dir(c.mod)) }

// modfile is the flag that chooses among several in one folder.
func (c *component) modfile() string { return "-modfile=" + path.Base(c.mod) }

func (c *component) flags(version string) []string {
	ldflags := "-s -w"
	if c.stamp != "" {
		ldflags += " -X " + c.stamp + "=" + version
	}
	flags := []string{c.modfile(), "-trimpath", "-buildvcs=false", "-ldflags=" + ldflags}
	if c.tags != "" {
		flags = append(flags, "-tags="+c.tags)
	}
	return flags
}

// version reads the pin from the component's go.mod.
func (c *component) version(root string) (string, error) {
	content, err := os.ReadFile(filepath.Join(root, c.mod))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s, which pins %s, is missing", c.mod, c.module)
	}
	if err != nil {
		return "", err
	}
	parsed, err := modfile.Parse(c.mod, content, nil)
	if err != nil {
		return "", err
	}
	for _, require := range parsed.Require {
		if require.Mod.Path == c.module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s doesn't require %s", c.mod, c.module)
}

// cacheDir names the folder after all that decides what comes out of a build, and not after the path of the tree. A
// changed pin, compiler or flag never finds programs of before.
func (c *component) cacheDir(root, version, programs string) (string, error) {
	home, err := CacheHome()
	if err != nil {
		return "", err
	}
	mod := strings.TrimSuffix(path.Base(c.mod), ".mod")
	inputs := []string{programs, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	inputs = append(inputs, c.flags(version)...)
	err = filepath.WalkDir(c.dir(root), func(file string, _ fs.DirEntry, err error) error {
		name := filepath.Base(file)
		if err != nil || filepath.Ext(name) != ".go" && name != mod+".mod" && name != mod+".sum" {
			return err
		}
		content, err := os.ReadFile(file)
		inputs = append(inputs, name, string(content))
		return err
	})
	return filepath.Join(home, "bin", fmt.Sprintf("%s-%s-%s", c.name, version, hash(inputs...))), err
}

// hash is short enough for the name of a folder.
func hash(inputs ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(inputs, "\x00")))
	return fmt.Sprintf("%x", sum[:6])
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// outputName is what `go build` calls the program of a package: the last element of its path that isn't a major
// version.
func outputName(pkg string) string {
	if base := path.Base(pkg); !majorVersion.MatchString(base) {
		return base
	}
	return path.Base(path.Dir(pkg))
}
