package tree

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// maxFile is larger than any manifest. Larger files are programs or archives.
const maxFile = 1 << 20

// Files are the repository's files by their path from its root, with slashes. They are in memory, so that a variant of
// them can be rendered without a change on disk.
type Files map[string][]byte

// Load reads the working tree, including uncommitted files. The root is the closest folder, from dir upwards, that has
// the settings.
func Load(dir string) (root string, files Files, err error) {
	if root, err = Root(dir); err != nil {
		return "", nil, err
	}
	files, err = read(os.DirFS(root))
	return root, files, err
}

// At reads the files of the commit that revision names, such as a branch, a tag, HEAD~1 or a hash.
func At(root, revision string) (Files, error) {
	command := exec.Command("git", "-C", root, "archive", "--format=zip", "-0", revision)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") // set for a Git hook, which may be of another repository
	})
	var stderr bytes.Buffer
	command.Stderr = &stderr
	content, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("revision %q of %s: %s", revision, root, strings.TrimSpace(stderr.String()))
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("revision %q of %s: %w", revision, root, err)
	}
	return read(archive)
}

// read reads all files that a kustomization can use. It leaves out large files and Go files.
func read(folder fs.FS) (Files, error) {
	files := Files{}
	return files, fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() || path.Ext(name) == ".go" {
			return nil
		}
		info, err := entry.Info()
		if err != nil || info.Size() > maxFile {
			return err
		}
		files[name], err = fs.ReadFile(folder, name)
		return err
	})
}

// Root returns the folder of the repository that dir is in.
func Root(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for current := absolute; ; current = filepath.Dir(current) {
		for _, file := range []string{SettingsFile, bootstrapFile} {
			if _, err := os.Stat(filepath.Join(current, file)); err == nil {
				return current, nil
			}
		}
		if current == filepath.Dir(current) {
			return "", fmt.Errorf("neither %s nor a folder above it has %s or %s: name the root of the repository by --dir",
				absolute, SettingsFile, bootstrapFile)
		}
	}
}

// With returns a copy of the files with the changes. A nil content removes the file.
func (f Files) With(changes Files) Files {
	changed := maps.Clone(f)
	maps.Copy(changed, changes)
	maps.DeleteFunc(changed, func(_ string, content []byte) bool { return content == nil })
	return changed
}

// Kustomization returns the name of the kustomization file in a folder.
func (f Files) Kustomization(dir string) (file string, found bool) {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, base); f[file] != nil {
			return file, true
		}
	}
	return "", false
}

// Kustomizations returns the names of all kustomization files below dir, sorted. It leaves out those of the template.
func (f Files) Kustomizations(dir string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasPrefix(name, dir+"/") && !strings.HasPrefix(name, Template+"/") &&
			slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name)) {
			found = append(found, name)
		}
	}
	return found
}

// Methods returns the install methods: each has a folder of Applications.
func (f Files) Methods() []string { return f.folders("gitops/apps", "base") }

// CheckMethods returns an error if one of the names is not the name of an install method.
func (f Files) CheckMethods(names ...string) error {
	known := f.Methods()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--method %q: choose one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Has reports whether the files can be planned: they have this install method, or are a consumer's repository.
func (f Files) Has(method string) bool {
	return f[SettingsFile] == nil && f[bootstrapFile] != nil || f.CheckMethods(method) == nil
}

// folders returns the names of the folders in dir that kustomize can build, without the folder except.
func (f Files) folders(dir, except string) []string {
	var names []string
	for _, file := range f.Kustomizations(dir) {
		if folder := path.Dir(file); path.Dir(folder) == dir && path.Base(folder) != except {
			names = append(names, path.Base(folder))
		}
	}
	return names
}
