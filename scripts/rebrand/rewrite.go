package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// rewriter replaces the names of one identity by those of another. Whatever could not be taken back is an error.
type rewriter struct{ from, to identity }

// replacer replaces all spellings at once, where several begin at the same place the longest: the module path contains
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
	path, content := filepath.Join(dir, name), []byte(after)
	if filepath.Ext(name) == ".go" { // Imports and columns may be in another order with other names.
		if tidy, err := format.Source(content); err == nil {
			content = tidy
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(dir, target), content, info.Mode().Perm())
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
	isLeft := func(text string) bool { return strings.Contains(find.Replace(strings.ToLower(text)), mark) }
	for _, name := range files {
		if isLeft(name) {
			found = append(found, name+": the path")
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if isBinary(string(content)) {
			continue
		}
		for i, line := range strings.Split(string(content), "\n") {
			if isLeft(line) {
				found = append(found, fmt.Sprintf("%s:%d: %s", name, i+1, strings.TrimSpace(line)))
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
