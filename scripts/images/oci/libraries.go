package oci

import (
	"debug/elf"
	"fmt"
	"io"
	"maps"
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

// files reads a program and the libraries that it needs. The program is the last file.
func (t tree) files(program string) ([]file, error) {
	paths, err := t.libraries(program)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, name := range append(paths, program) {
		resolved, err := t.resolve(name)
		if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(resolved)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: strings.TrimPrefix(name, "/"), mode: 0o755, content: content})
	}
	return files, nil
}

// libraries returns the loader of a program, its libraries, and the libraries of those, in order. It reads ELF headers
// instead of running the loader, so that it works for programs of other architectures.
func (t tree) libraries(program string) ([]string, error) {
	binary, err := t.open(program)
	if err != nil {
		return nil, err
	}
	defer binary.Close()
	loader := loaderOf(binary)
	if loader == "" {
		return nil, nil // static
	}
	found := map[string]string{path.Base(loader): loader}
	wanted, err := binary.ImportedLibraries()
	for len(wanted) > 0 && err == nil {
		name := wanted[0]
		wanted = wanted[1:]
		if found[name] != "" {
			continue
		}
		var further []string
		found[name], further, err = t.find(name, binary.Machine)
		wanted = append(wanted, further...)
	}
	if err != nil {
		return nil, fmt.Errorf("libraries of %s: %w", program, err)
	}
	return slices.Sorted(maps.Values(found)), nil
}

// find looks for a library of an architecture, and returns its path and the libraries that it needs.
func (t tree) find(name string, machine elf.Machine) (at string, further []string, err error) {
	for _, dir := range libraryDirs {
		candidates, err := filepath.Glob(filepath.Join(string(t), dir, name))
		if err != nil {
			return "", nil, err
		}
		for _, candidate := range candidates {
			at := "/" + strings.TrimPrefix(strings.TrimPrefix(candidate, string(t)), "/")
			library, err := t.open(at)
			if err != nil {
				return "", nil, err
			}
			further, err := library.ImportedLibraries()
			library.Close()
			if library.Machine == machine {
				return at, further, err
			}
		}
	}
	return "", nil, fmt.Errorf("%s is in none of %s", name, strings.Join(libraryDirs, " "))
}

func (t tree) open(name string) (*elf.File, error) {
	resolved, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	binary, err := elf.Open(resolved)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return binary, nil
}

// resolve follows symbolic links within the tree: an absolute one begins at its root.
func (t tree) resolve(name string) (string, error) { return securejoin.SecureJoin(string(t), name) }

// loaderOf returns the program that the kernel starts for a program that is not static.
func loaderOf(binary *elf.File) string {
	for _, program := range binary.Progs {
		if program.Type == elf.PT_INTERP {
			name, err := io.ReadAll(program.Open())
			if err == nil {
				return strings.TrimRight(string(name), "\x00")
			}
		}
	}
	return ""
}
