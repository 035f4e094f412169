package tree

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// commented is a list item of a kustomization that is a comment, as in "# - path: version.yaml # why". The name of this
// option is version.
var commented = regexp.MustCompile(`(?m)^([ \t]*)# (- (?:path: )?((?:[\w./-]*/)?([\w-]+)[\w.-]*)(?:[ \t]+#.*)?)$`)

// Options returns the names of the parts that a user adds to the tree by removing the "# " before a line.
func (f Files) Options() []string {
	names := sets.New[string]()
	for _, file := range f.Kustomizations("gitops") {
		for _, match := range commented.FindAllSubmatch(f[file], -1) {
			if f.exists(file, string(match[3])) {
				names.Insert(string(match[4]))
			}
		}
	}
	return sets.List(names)
}

// exists reports whether a path, relative to the kustomization in file, is a folder to build, or a file.
func (f Files) exists(file, relative string) bool {
	name := path.Join(path.Dir(file), relative)
	_, isFolder := f.Kustomization(name)
	return f[name] != nil || isFolder
}

// withOptions returns a copy of the files with these options, and with the options that they need.
func (f Files) withOptions(names []string) (Files, error) {
	known, wanted := f.Options(), slices.Clone(names)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("option %q: no kustomization below gitops/ has a commented line of that name: choose from %s",
				name, strings.Join(known, ", "))
		}
	}
	changes := Files{}
	for _, file := range f.Kustomizations("gitops") {
		for folder := range strings.SplitSeq(path.Dir(file), "/") {
			if slices.Contains(known, folder) && f.uncommented(file, names) != string(f[file]) {
				wanted = append(wanted, folder) // An option of a folder has no effect unless the folder itself is used.
			}
		}
	}
	for _, file := range f.Kustomizations("gitops") {
		changes[file] = []byte(f.uncommented(file, wanted))
	}
	return f.With(changes), nil
}

// uncommented returns the text of a kustomization file, with the lines of these options no longer commented out.
func (f Files) uncommented(file string, options []string) string {
	return commented.ReplaceAllStringFunc(string(f[file]), func(line string) string {
		match := commented.FindStringSubmatch(line)
		if !slices.Contains(options, match[4]) || !f.exists(file, match[3]) {
			return line
		}
		return match[1] + match[2]
	})
}
