package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// memcachedID is the user, and the port, that the official image has.
const memcachedID = 11211

// Memcached makes an image from the memcached of the machine's distribution, shaped like the
// official one: its user, its port, its command. It returns the version as well, for the tag.
func Memcached(ctx context.Context) (image v1.Image, version string, err error) {
	binary, err := exec.LookPath("memcached")
	if err != nil {
		return nil, "", fmt.Errorf("install the package memcached, the image is made from it: %w", err)
	}
	if version, err = memcachedVersion(ctx, binary); err != nil {
		return nil, "", err
	}
	libraries, err := exec.CommandContext(ctx, "ldd", binary).Output()
	if err != nil {
		return nil, "", fmt.Errorf("ask for memcached's libraries: %w", err)
	}
	files := []file{
		{path: "etc/passwd", mode: 0o644, content: fmt.Appendf(nil, "memcached:x:%d:%[1]d::/:/nonexistent\n", memcachedID)},
		{path: "etc/group", mode: 0o644, content: fmt.Appendf(nil, "memcached:x:%d:\n", memcachedID)},
	}
	for _, path := range append(librariesOf(string(libraries)), binary) {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		files = append(files, file{path: strings.TrimPrefix(path, "/"), mode: 0o755, content: content})
	}
	image, err = assemble(Host(), memcachedConfig(filepath.Dir(binary)), files)
	return image, version, err
}

func memcachedConfig(dir string) v1.Config {
	return v1.Config{
		User:         "memcached",
		Entrypoint:   []string{"memcached"},
		ExposedPorts: map[string]struct{}{fmt.Sprintf("%d/tcp", memcachedID): {}},
		Env:          []string{"PATH=" + dir},
		WorkingDir:   "/",
	}
}

var versionPattern = regexp.MustCompile(`^memcached (\d+\.\d+\.\d+)`)

func memcachedVersion(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "-V").Output()
	if err != nil {
		return "", fmt.Errorf("ask memcached for its version: %w", err)
	}
	match := versionPattern.FindSubmatch(out)
	if match == nil {
		return "", errors.New("memcached -V gives no version: " + string(out))
	}
	return string(match[1]), nil
}

// librariesOf returns the files that ldd names, in order: those after an arrow, and the loader,
// which stands alone. The kernel's own library is no file.
func librariesOf(ldd string) []string {
	var paths []string
	for line := range strings.Lines(ldd) {
		if _, target, found := strings.Cut(line, "=>"); found {
			line = target
		}
		path, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
