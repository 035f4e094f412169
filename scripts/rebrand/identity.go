package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// identity has the four names of a project. In an identity that a user requests, an empty name means that the project
// keeps this name.
type identity struct {
	Module   string // path of the Go module, and the address of the repository in links
	Group    string // API group, and prefix of the operator's annotations
	Registry string // registry of all images: host, port and path
	Name     string // name of the project, with which the names of its objects begin
}

// projectFile is kubebuilder's file with the names of the project. It has the API group in two parts, split at the
// first dot.
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

// with returns the identity with the names in change that are not empty.
func (id identity) with(change identity) identity {
	return identity{
		Module: cmp.Or(change.Module, id.Module), Group: cmp.Or(change.Group, id.Group),
		Registry: cmp.Or(change.Registry, id.Registry), Name: cmp.Or(change.Name, id.Name),
	}
}

// names returns the parameters of make rebrand, each with its value.
func (id identity) names() [][2]string {
	return [][2]string{{"MODULE", id.Module}, {"GROUP", id.Group}, {"REGISTRY", id.Registry}, {"NAME", id.Name}}
}

// spellings returns all forms in which a file may have the names, in the same order for each identity.
func (id identity) spellings(file string) (all []string) {
	for _, name := range id.names() {
		escaped := regexp.QuoteMeta(name[1])
		if escaped == name[1] { // such as localhost:5001, which has no dot to escape
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

// validate reports everything that is wrong with the identity, with the parameter to correct.
func (id identity) validate() error {
	reserved := regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`)
	_, major, _ := module.SplitPathVersion(id.Module)
	crd := validation.IsDNS1123Subdomain("memcacheds." + id.Group)
	problems := []error{values.ValidateRegistry("REGISTRY=", id.Registry)}
	refuse := func(isBroken bool, parameter, value, rule string) {
		if isBroken {
			problems = append(problems, fmt.Errorf("%s=%s: %s", parameter, value, rule))
		}
	}
	refuse(module.CheckPath(id.Module) != nil || !strings.Contains(id.Module, "/") || major != "", "MODULE", id.Module,
		"write the address of the repository without https:// and without a major version, "+
			"as in github.com/YOU/REPOSITORY")
	refuse(len(crd) > 0 || !strings.Contains(id.Group, "."), "GROUP", id.Group,
		"use a DNS name below a domain of your own, as in cache.YOUR.DOMAIN, in lower case, and short enough for the "+
			"name of the CustomResourceDefinition")
	refuse(reserved.MatchString(id.Group), "GROUP", id.Group,
		"this domain is reserved for Kubernetes: use one of your own")
	refuse(len(validation.IsDNS1035Label(id.Name)) > 0, "NAME", id.Name,
		"names of Services and metrics begin with it: write lower case letters, digits and dashes, as in YOU-memcached")
	return errors.Join(problems...)
}

// fits returns an error if a name of an object in a text would be too long with the next name of the project. It takes
// each DNS label that contains the project's name as the name of an object.
func (id identity) fits(next identity, text string) error {
	const limit = validation.DNS1035LabelMaxLength
	labels := regexp.MustCompile(`[-a-z0-9]*` + regexp.QuoteMeta(id.Name) + `[-a-z0-9]*`)
	for _, label := range labels.FindAllString(text, -1) {
		most := limit - len(label) + len(id.Name)
		if len(label) <= limit && len(next.Name) > most {
			return fmt.Errorf("NAME=%s: %s would be too long for a Service: use at most %d characters",
				next.Name, strings.Replace(label, id.Name, next.Name, 1), most)
		}
	}
	return nil
}

// rewriter replaces the names of one identity by those of another. It returns an error if the reverse replacement would
// not restore the old text.
type rewriter struct{ from, to identity }

// replacer replaces all spellings together. If several spellings begin at the same place, it replaces the longest. So
// it does not replace the project's name within the module path, which contains it.
func replacer(old, fresh []string) *strings.Replacer {
	var pairs [][]string
	for i := range old {
		pairs = append(pairs, []string{old[i], fresh[i]})
	}
	slices.SortStableFunc(pairs, func(a, b []string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	return strings.NewReplacer(slices.Concat(pairs...)...)
}

// tree rewrites the files of a folder: their text and their paths.
func (r rewriter) tree(dir string, files []string) error {
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		text := string(content)
		target, pathErr := r.text(name, name)
		next, textErr := r.text(name, text)
		if err := errors.Join(pathErr, textErr, r.from.fits(r.to, text)); err != nil {
			return err
		}
		if target != name && slices.Contains(files, target) {
			return fmt.Errorf("%s would become %s, which exists: choose another name", name, target)
		}
		if err := write(dir, name, target, text, next); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file by one with the name target and the content after.
func write(dir, name, target, before, after string) error {
	if name == target && before == after {
		return nil
	}
	path, content := filepath.Join(dir, target), []byte(after)
	if filepath.Ext(name) == ".go" { // Other names change the order of imports and the width of columns.
		if tidy, err := format.Source(content); err == nil {
			content = tidy
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Rename(filepath.Join(dir, name), path))
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644) // An existing file keeps its permissions.
}

// text rewrites the text of a file. It fails if the text already has one of the new names, because the old and the new
// occurrences would be indistinguishable afterwards, and the project could not be rebranded again.
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

// leftovers finds the old names that are still in a tree, including those in spellings that the rewriter does not know,
// such as in other letter cases. It returns the path, line and text of each.
func (r rewriter) leftovers(dir string, files []string) (found []string, err error) {
	const mark = "\x00" // no text file has this character
	kept := looseSpellings(r.to)
	old := slices.DeleteFunc(looseSpellings(r.from), func(s string) bool { return slices.Contains(kept, s) })
	// A new name is not a leftover, even if it contains an old name.
	replacements := slices.Concat(make([]string, len(kept)), slices.Repeat([]string{mark}, len(old)))
	find := replacer(slices.Concat(kept, old), replacements)
	isOld := func(text string) bool { return strings.Contains(find.Replace(strings.ToLower(text)), mark) }
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if isOld(name) {
			found = append(found, name+": the path")
		}
		text := string(content)
		if isBinary(text) {
			text = ""
		}
		for i, line := range strings.Split(text, "\n") {
			if isOld(line) {
				found = append(found, fmt.Sprintf("%s:%d: %s", name, i+1, strings.TrimSpace(line)))
			}
		}
	}
	return found, nil
}

// looseSpellings returns the spellings of the identity, and other spellings that files might have, in lower case.
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
