package oci

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/scripts/images/debian"
)

// memcachedID is the user ID of the official image's user. It is also memcached's port.
const memcachedID = 11211

// Memcached makes an image with the user, port and command of the official image. It returns the version of memcached,
// for the image's tag. By default, it makes the image from this machine's memcached. If a suite of Debian, such as
// forky, or platforms are given, it makes the image from Debian's packages, and runs no program of these packages.
func Memcached(ctx context.Context, suite string, platforms ...v1.Platform) (
	index v1.ImageIndex, version string, err error) {
	if suite == "" && len(platforms) == 0 {
		return memcachedHere(ctx)
	}
	if len(platforms) == 0 {
		platforms = []v1.Platform{Host()}
	}
	images, versions := make([]v1.Image, len(platforms)), make([]string, len(platforms))
	group, ctx := errgroup.WithContext(ctx)
	for i, platform := range platforms {
		group.Go(func() (err error) {
			images[i], versions[i], err = memcachedPackage(ctx, platform, suite)
			if err != nil {
				err = fmt.Errorf("memcached for %s: %w", platform, err)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, "", err
	}
	if len(slices.Compact(slices.Clone(versions))) != 1 {
		return nil, "", fmt.Errorf("the packages of memcached have different versions (%s): try again when the mirror "+
			"has the same version for all of %s",
			versions, platforms)
	}
	index, err = Index(images...)
	return index, versions[0], err
}

func memcachedPackage(ctx context.Context, platform v1.Platform, suite string) (v1.Image, string, error) {
	root, err := os.MkdirTemp("", "memcached-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(root)
	version, err := debian.Unpack(ctx, root, debian.Request{
		Package: "memcached", Architecture: platform.Architecture, Suite: suite,
		// These packages are only needed to start memcached as a service.
		Without: []string{"adduser", "init-system-helpers", "lsb-base", "perl", "systemd", "sysvinit-utils"},
	})
	if err != nil {
		return nil, "", err
	}
	image, err := memcachedOf(tree(root), "/usr/bin/memcached", platform)
	return image, version, err
}

// memcachedOf makes the image of a memcached and its libraries.
func memcachedOf(root tree, binary string, platform v1.Platform) (v1.Image, error) {
	program, err := root.files(binary)
	if err != nil {
		return nil, err
	}
	files := []file{
		{path: "etc/passwd", mode: 0o644, content: fmt.Appendf(nil, "memcached:x:%d:%[1]d::/:/nonexistent\n", memcachedID)},
		{path: "etc/group", mode: 0o644, content: fmt.Appendf(nil, "memcached:x:%d:\n", memcachedID)},
	}
	return assemble(platform, v1.Config{
		User:         "memcached",
		Entrypoint:   []string{"memcached"},
		ExposedPorts: map[string]struct{}{fmt.Sprintf("%d/tcp", memcachedID): {}},
		Env:          []string{"PATH=" + path.Dir(binary)},
		WorkingDir:   "/",
	}, append(files, program...))
}

func memcachedHere(ctx context.Context) (index v1.ImageIndex, version string, err error) {
	binary, err := exec.LookPath("memcached")
	if err != nil {
		return nil, "", fmt.Errorf("install the package memcached, because the image is made from it: %w", err)
	}
	out, err := exec.CommandContext(ctx, binary, "-V").Output()
	if err == nil {
		_, err = fmt.Sscanf(string(out), "memcached %s", &version)
	}
	if err != nil {
		return nil, "", fmt.Errorf("memcached -V: %w: %s", err, out)
	}
	image, err := memcachedOf("/", binary, Host())
	if err != nil {
		return nil, "", err
	}
	index, err = Index(image)
	return index, version, err
}

// libraryDirs are the folders in which the loaders of distributions look for libraries. The first two are patterns,
// with a folder for each architecture.
var libraryDirs = []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}

// tree is the root folder of a file system: that of this machine, or that of unpacked packages.
type tree string

// executable is a program or a library.
type executable struct {
	file
	machine elf.Machine
	needs   []string // libraries by name, and the loader by path
}

// files reads a program, its loader, its libraries, and the libraries that these libraries need. The program is the
// last file. It reads ELF headers instead of running the loader, so that it works for programs of other architectures.
func (t tree) files(program string) ([]file, error) {
	start, err := t.read(program)
	if err != nil {
		return nil, err
	}
	var files []file
	seen := map[string]bool{}
	for pending := start.needs; len(pending) > 0; pending = pending[1:] {
		name := path.Base(pending[0])
		if seen[name] {
			continue
		}
		seen[name] = true
		library, err := t.find(pending[0], start.machine)
		if err != nil {
			return nil, fmt.Errorf("libraries of %s: %w", program, err)
		}
		files = append(files, library.file)
		pending = append(pending, library.needs...)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return append(files, start.file), nil
}

// find reads a library of an architecture, from the first of libraryDirs that has it.
func (t tree) find(name string, machine elf.Machine) (executable, error) {
	if path.IsAbs(name) {
		return t.read(name)
	}
	for _, dir := range libraryDirs {
		candidates, err := filepath.Glob(filepath.Join(string(t), dir, name))
		if err != nil {
			return executable{}, err
		}
		for _, candidate := range candidates {
			library, err := t.read(strings.TrimPrefix(candidate, string(t)))
			if err != nil || library.machine == machine {
				return library, err
			}
		}
	}
	return executable{}, fmt.Errorf("%s is in none of %s", name, strings.Join(libraryDirs, " "))
}

// read reads an executable. It follows symbolic links within the tree: the path of an absolute link begins at the
// tree's root.
func (t tree) read(name string) (executable, error) {
	resolved, err := securejoin.SecureJoin(string(t), name)
	if err != nil {
		return executable{}, err
	}
	content, err := os.ReadFile(resolved)
	if err != nil {
		return executable{}, err
	}
	header, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return executable{}, fmt.Errorf("%s: %w", name, err)
	}
	f := file{path: strings.TrimPrefix(name, "/"), mode: 0o755, content: content}
	b := executable{file: f, machine: header.Machine}
	for _, segment := range header.Progs {
		if segment.Type == elf.PT_INTERP {
			loader, err := io.ReadAll(segment.Open())
			if err != nil {
				return b, err
			}
			b.needs = append(b.needs, strings.TrimRight(string(loader), "\x00"))
		}
	}
	libraries, err := header.ImportedLibraries()
	b.needs = append(b.needs, libraries...)
	return b, err
}
