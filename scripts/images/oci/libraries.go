package oci

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
)

// libraryDirs are those of the distributions' loaders. The first two have a folder for each architecture.
var libraryDirs = []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}

// tree is the root of a file system: this machine's, or that of unpacked packages.
type tree string

// executable is a program or a library.
type executable struct {
	file
	machine elf.Machine
	needs   []string // libraries by name, and the loader by path
}

// files reads a program, its loader, its libraries, and the libraries of those. The program is the last file. It reads
// ELF headers instead of running the loader, so that it works for programs of other architectures.
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

// find reads a library of an architecture.
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

// read follows symbolic links within the tree: an absolute one begins at its root.
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
