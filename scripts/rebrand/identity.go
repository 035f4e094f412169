package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// identity is the four names of a project. In a request for another identity, an empty name stays as it is.
type identity struct {
	Module   string // path of the Go module, and the address of the repository in links
	Group    string // of the API, and the prefix of its annotations
	Registry string // of all images: host, port and path
	Name     string // of the project, with which the names of its objects begin
}

// projectFile is kubebuilder's. It splits the API group at the first dot.
const projectFile = "PROJECT"

// readIdentity returns the identity of the project in a folder.
func readIdentity(dir string) (id identity, err error) {
	read := func(file, find string) string {
		value, readErr := worktree.Place{File: file, Find: find}.Read(dir)
		err = errors.Join(err, readErr)
		return value
	}
	id = identity{
		Module:   read("go.mod", `(?m)^module (\S+)`),
		Group:    read(projectFile, `(?m)^[ -]+group: (\S+)`) + "." + read(projectFile, `(?m)^[ -]+domain: (\S+)`),
		Registry: read("Makefile", `(?m)^REGISTRY \?= (\S+)$`),
		Name:     read(projectFile, `(?m)^projectName: (\S+)`),
	}
	return id, err
}

// with returns the identity with the names that change has.
func (id identity) with(change identity) identity {
	return identity{
		Module: cmp.Or(change.Module, id.Module), Group: cmp.Or(change.Group, id.Group),
		Registry: cmp.Or(change.Registry, id.Registry), Name: cmp.Or(change.Name, id.Name),
	}
}

// names are the parameters of make rebrand.
func (id identity) names() [][2]string {
	return [][2]string{{"MODULE", id.Module}, {"GROUP", id.Group}, {"REGISTRY", id.Registry}, {"NAME", id.Name}}
}

// spellings are all forms in which a file has the names, in the same order for each identity.
func (id identity) spellings(file string) (all []string) {
	for _, name := range id.names() {
		escaped := regexp.QuoteMeta(name[1])
		if escaped == name[1] { // localhost:5001: without its own escape it would be the same as the name
			escaped = strings.ReplaceAll(escaped, ":", `\:`)
		}
		all = append(all, name[1], escaped, strings.ReplaceAll(escaped, `\`, `\\`))
	}
	group, domain, _ := strings.Cut(id.Group, ".")
	all = append(all,
		strings.ReplaceAll(id.Name, "-", "_")+"_", // metrics
		group+"_v1_memcached",                     // the file name of a sample
	)
	if file == projectFile {
		all = append(all, "group: "+group+"\n", "domain: "+domain+"\n")
	}
	return all
}

// invalid is an error that names the parameter to correct, and the fix.
func invalid(parameter, value, problem, fix string) error {
	return fmt.Errorf("%s=%s: %s: %s", parameter, value, problem, fix)
}

// validate reports everything that is wrong with the identity.
func (id identity) validate() error {
	err := errors.Join(validateModule(id.Module), validateGroup(id.Group), validateRegistry(id.Registry, id.Name))
	for _, problem := range validation.IsDNS1035Label(id.Name) {
		const fix = "Services and metrics begin with it, as in YOU-memcached"
		err = errors.Join(err, invalid("NAME", id.Name, problem, fix))
	}
	return err
}

func validateModule(path string) error {
	const fix = "write the address of the repository without https://, as in github.com/YOU/REPOSITORY"
	_, major, _ := module.SplitPathVersion(path)
	switch err := module.CheckPath(path); {
	case err != nil:
		return invalid("MODULE", path, "not a module path", fix+" ("+err.Error()+")")
	case !strings.Contains(path, "/"):
		return invalid("MODULE", path, "has no path after the host", fix)
	case major != "":
		return invalid("MODULE", path, "ends in a major version", "leave out "+major+": links use the path as an address")
	}
	return nil
}

func validateGroup(group string) error {
	const fix = "use a DNS name below a domain of your own, as in cache.YOUR.DOMAIN, in lower case"
	reserved := regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`).FindString(group)
	problems := validation.IsDNS1123Subdomain(group)
	switch {
	case len(problems) > 0:
		return invalid("GROUP", group, problems[0], fix)
	case !strings.Contains(group, "."):
		return invalid("GROUP", group, "has no dot", fix)
	case reserved != "":
		return invalid("GROUP", group, strings.TrimPrefix(reserved, ".")+" is reserved for Kubernetes", fix)
	case len(validation.IsDNS1123Subdomain("memcacheds."+group)) > 0:
		return invalid("GROUP", group, "is too long for the name of the CustomResourceDefinition", "use a shorter one")
	}
	return nil
}

func validateRegistry(registry, name string) error {
	const fix = "write host, port and path, as in ghcr.io/YOU or localhost:5001; Docker Hub is docker.io/ACCOUNT"
	host, _, _ := strings.Cut(registry, "/")
	parsed, err := reference.Parse(registry + "/" + name) // Not ParseNormalizedNamed, which accepts short names.
	named, isNamed := parsed.(reference.Named)
	switch {
	case strings.Contains(registry, "://"):
		return invalid("REGISTRY", registry, "is a URL", "leave out the scheme")
	case host != "localhost" && !strings.ContainsAny(host, ".:"):
		return invalid("REGISTRY", registry, "names no host", fix)
	case err != nil:
		return invalid("REGISTRY", registry, err.Error(), fix)
	case !isNamed || reference.Domain(named) != host:
		return invalid("REGISTRY", registry, "not a registry", fix)
	}
	return nil
}

// fits checks that the names of objects, which are the DNS labels in texts that hold the project's name, are short
// enough with another name of the project.
func (id identity) fits(next identity, texts []string) error {
	const limit = validation.DNS1035LabelMaxLength
	labels := regexp.MustCompile(`[-a-z0-9]*` + regexp.QuoteMeta(id.Name) + `[-a-z0-9]*`)
	longest := id.Name
	for _, label := range labels.FindAllString(strings.Join(texts, "\n"), -1) {
		if len(label) > len(longest) && len(label) <= limit {
			longest = label
		}
	}
	most := limit - len(longest) + len(id.Name)
	if len(next.Name) <= most {
		return nil
	}
	return invalid("NAME", next.Name, strings.Replace(longest, id.Name, next.Name, 1)+" would be too long for a Service",
		fmt.Sprintf("use at most %d characters", most))
}

// rewriter replaces the names of one identity by those of another. Whatever could not be taken back is an error.
type rewriter struct{ from, to identity }

// replacer replaces all spellings together, where several begin at the same place the longest: the module path contains
// the project's name, and must not be changed with it.
func replacer(old, fresh []string) *strings.Replacer {
	pairs := make([][2]string, len(old))
	for i := range old {
		pairs[i] = [2]string{old[i], fresh[i]}
	}
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	var all []string
	for _, pair := range pairs {
		all = append(all, pair[:]...)
	}
	return strings.NewReplacer(all...)
}

// tree rewrites the files of a folder, in their text and in their paths.
func (r rewriter) tree(dir string, files []string) error {
	contents := map[string]string{}
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		contents[name] = string(content)
	}
	if err := r.from.fits(r.to, slices.Collect(maps.Values(contents))); err != nil {
		return err
	}
	for name, content := range contents {
		target, pathErr := r.text(name, name)
		next, textErr := r.text(name, content)
		if err := errors.Join(pathErr, textErr); err != nil {
			return err
		}
		if _, exists := contents[target]; exists && target != name {
			return fmt.Errorf("%s would become %s, which exists: choose another name", name, target)
		}
		if err := write(dir, name, target, content, next); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file by one of another name and content.
func write(dir, name, target, before, after string) error {
	if name == target && before == after {
		return nil
	}
	path, content := filepath.Join(dir, target), []byte(after)
	if filepath.Ext(name) == ".go" { // Imports and columns may be in another order with other names.
		if tidy, err := format.Source(content); err == nil {
			content = tidy
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Rename(filepath.Join(dir, name), path))
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644) // Permissions stay.
}

// text rewrites the text of a file. It fails if the text already has one of the new names: the two would be
// indistinguishable afterwards, and the project could not be rebranded again.
func (r rewriter) text(name, text string) (string, error) {
	if isBinary(text) {
		return text, nil
	}
	old, fresh := r.from.spellings(name), r.to.spellings(name)
	next := replacer(old, fresh).Replace(text)
	again := replacer(fresh, old).Replace(next)
	if again == text {
		return next, nil
	}
	lines, others := strings.Split(text, "\n"), strings.Split(again, "\n")
	i := 0
	for i < min(len(lines), len(others))-1 && lines[i] == others[i] {
		i++
	}
	return "", fmt.Errorf("%s:%d already uses one of the new names: choose another one\n  %s",
		name, i+1, strings.TrimSpace(lines[i]))
}

func isBinary(content string) bool { return strings.Contains(content, "\x00") }

// leftovers finds the old names that are still in a tree, also in spellings that the rewriter does not know, such as
// other cases. Each is described by path, line and text.
func (r rewriter) leftovers(dir string, files []string) (found []string, err error) {
	const mark = "\x00" // text files do not have it
	kept := looseSpellings(r.to)
	old := slices.DeleteFunc(looseSpellings(r.from), func(s string) bool { return slices.Contains(kept, s) })
	// New names pass, also where they contain an old one.
	replacements := slices.Concat(make([]string, len(kept)), slices.Repeat([]string{mark}, len(old)))
	find := replacer(slices.Concat(kept, old), replacements)
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		lines := []string{name} // line 0 is the path itself
		if !isBinary(string(content)) {
			lines = append(lines, strings.Split(string(content), "\n")...)
		}
		for i, line := range lines {
			if strings.Contains(find.Replace(strings.ToLower(line)), mark) {
				inText := fmt.Sprintf("%s:%d: %s", name, i, strings.TrimSpace(line))
				found = append(found, map[bool]string{true: name + ": the path", false: inText}[i == 0])
			}
		}
	}
	return found, nil
}

// looseSpellings are those of the identity, and others that files might have, in lower case.
func looseSpellings(id identity) []string {
	all := id.spellings("")
	for _, name := range id.names() {
		for _, separator := range []string{"_", "-"} {
			all = append(all, strings.NewReplacer(".", separator, "/", separator, "-", separator).Replace(name[1]))
		}
	}
	for i, spelling := range all {
		all[i] = strings.ToLower(spelling)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
