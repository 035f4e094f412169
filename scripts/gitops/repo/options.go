package repo

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Option is a part of the tree that is left out until somebody removes the "# " before its line.
type Option struct {
	Name string
	// Needs are options without which this one has no effect.
	Needs []string
}

// commented is a list item of a kustomization that is left out: "# - ../components/console # why".
var commented = regexp.MustCompile(`(?m)^([ \t]*)# (- ([\w./-]+)(?:[ \t]+#.*)?)$`)

// consoleFolder holds options that are parts of another option.
const consoleFolder, console = "gitops/console/", "console"

// Options are those that the kustomizations below gitops/ offer, in the order of their names.
func (f Files) Options() []Option {
	found := map[string]Option{}
	for _, file := range f.Kustomizations("gitops") {
		for _, match := range commented.FindAllSubmatch(f[file], -1) {
			if !f.component(file, string(match[3])) {
				continue
			}
			option := Option{Name: path.Base(string(match[3]))}
			if strings.HasPrefix(file, consoleFolder) {
				option.Needs = []string{console}
			}
			found[option.Name] = option
		}
	}
	options := slices.Collect(maps.Values(found))
	slices.SortFunc(options, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	return options
}

// component: there is a folder to build, or a file.
func (f Files) component(file, relative string) bool {
	name := path.Join(path.Dir(file), relative)
	_, isFile := f[name]
	_, isFolder := f.Kustomization(name)
	return isFile || isFolder
}

// Offers tells whether there is an option of that name.
func (f Files) Offers(name string) bool {
	return slices.ContainsFunc(f.Options(), func(o Option) bool { return o.Name == name })
}

// WithOptions is a copy in which the lines of these options, and of what they need, are no comments.
func (f Files) WithOptions(names ...string) (Files, error) {
	options := f.Options()
	var wanted []string
	for _, name := range names {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("option %q: no kustomization below gitops/ has the line \"# - .../%s\"", name, name)
		}
		wanted = append(append(wanted, name), options[i].Needs...)
	}
	changes := Files{}
	for _, file := range f.Kustomizations("gitops") {
		if text := f.uncommented(file, wanted); text != string(f[file]) {
			changes[file] = []byte(text)
		}
	}
	return f.With(changes), nil
}

// uncommented is the text of a kustomization with the wanted lines in it, and the list's name if that is left out, too.
func (f Files) uncommented(file string, wanted []string) string {
	lines := strings.Split(string(f[file]), "\n")
	for i, line := range lines {
		match := commented.FindStringSubmatch(line)
		if match == nil || !slices.Contains(wanted, path.Base(match[3])) || !f.component(file, match[3]) {
			continue
		}
		lines[i] = match[1] + match[2]
		if head := lastHead(lines[:i]); head >= 0 {
			lines[head] = strings.TrimPrefix(lines[head], "# ")
		}
	}
	return strings.Join(lines, "\n")
}

var head = regexp.MustCompile(`^# (components|resources):$`)

// lastHead is the line that names the list an item is in, if that line is a comment; else it is -1.
func lastHead(lines []string) int {
	for i, line := range slices.Backward(lines) {
		if head.MatchString(line) {
			return i
		}
		if !commented.MatchString(line) {
			return -1
		}
	}
	return -1
}
