// Package repo holds the repository's files in memory, so that a variant of them can be tried without
// a change on disk.
package repo

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// maxFile is more than any manifest has. What is larger is a program or an archive.
const maxFile = 1 << 20

// Files are the repository's files by their path from its root, with slashes.
type Files map[string][]byte

// Root is the closest folder at or above dir that holds the settings of gitops/.
func Root(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for current := absolute; ; current = filepath.Dir(current) {
		if _, err := os.Stat(filepath.Join(current, SettingsFile)); err == nil {
			return current, nil
		}
		if current == filepath.Dir(current) {
			return "", fmt.Errorf("neither %s nor a folder above it holds %s: name the root of the repository by --dir",
				absolute, SettingsFile)
		}
	}
}

// Load reads the working tree as it is, committed or not.
func Load(root string) (Files, error) {
	files := Files{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		relative, err := filepath.Rel(root, name)
		if err != nil || !entry.Type().IsRegular() || skipped(relative) {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() > maxFile {
			return err
		}
		content, err := os.ReadFile(name)
		files[filepath.ToSlash(relative)] = content
		return err
	})
	return files, err
}

// skipped: no kustomization is made of Go.
func skipped(name string) bool { return path.Ext(name) == ".go" }

// With is a copy in which the changes are made. A nil content removes the file.
func (f Files) With(changes Files) Files {
	changed := maps.Clone(f)
	for name, content := range changes {
		if content == nil {
			delete(changed, name)
			continue
		}
		changed[name] = content
	}
	return changed
}

// possible are the names that kustomize's file system in memory can hold.
var possible = regexp.MustCompile(`^[\w./:-]+$`)

// System is a file system with the files in it, for kustomize.
func (f Files) System() (filesys.FileSystem, error) {
	system := filesys.MakeFsInMemory()
	for name, content := range f {
		if !possible.MatchString(name) || strings.Contains(name, "..") {
			continue
		}
		if err := system.WriteFile("/"+name, content); err != nil {
			return nil, err
		}
	}
	return system, nil
}

// Kustomization is the file that makes a folder one that kustomize builds.
func (f Files) Kustomization(dir string) (file string, found bool) {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(dir, base)
		if _, found := f[file]; found {
			return file, true
		}
	}
	return "", false
}

// Kustomizations are all such files below dir, in the order of their names.
func (f Files) Kustomizations(dir string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		inside := strings.HasPrefix(name, dir+"/")
		if inside && slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name)) {
			found = append(found, name)
		}
	}
	return found
}

// Ways are the names of the overlays of Applications, each of them a way to install the operator.
func (f Files) Ways() []string {
	var ways []string
	for _, name := range f.Kustomizations(overlays) {
		if dir := path.Dir(name); path.Dir(dir) == overlays {
			ways = append(ways, path.Base(dir))
		}
	}
	return ways
}

const overlays = "gitops/apps/overlays"
