// Package facts compares the versions, images and digests that the repository names: the home of each, which people
// change, with its copies.
package facts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Found is what the files of a repository name.
type Found struct {
	Values []Value
	Stale  []Copy
	Twice  []error // images, digests and actions that have no home, and are in several files

	root string
}

// Value is a version, as its home has it.
type Value struct {
	Name, Text, Home string
	Copies           int
}

// Copy is where a file repeats a version.
type Copy struct {
	Value

	File, Has, Want string
	Line            int
	from, to        int // in the file
}

// Read looks through the files of a work tree.
func Read(ctx context.Context, root string) (*Found, error) {
	names, err := worktree.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	return read(root, names)
}

func read(root string, names []string) (*Found, error) {
	files := map[string]string{}
	for _, name := range names {
		if unread.MatchString(name) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		files[name] = string(content)
	}
	found, known := &Found{root: root}, map[span]bool{}
	for _, f := range table {
		value, err := f.value(root)
		if err != nil {
			return nil, err
		}
		all := f.copiesIn(files, value)
		value.Copies = len(all)
		found.Values = append(found.Values, value)
		for _, c := range all {
			known[span{c.File, c.to}] = true
			if c.Has != c.Want && !slices.Contains(f.Others, c.Has) {
				found.Stale = append(found.Stale, c)
			}
		}
	}
	slices.SortFunc(found.Stale, func(a, b Copy) int {
		return strings.Compare(fmt.Sprintf("%s:%9d", a.File, a.from), fmt.Sprintf("%s:%9d", b.File, b.from))
	})
	found.Twice = twice(files, known)
	return found, nil
}

// value reads the home of a version.
func (f *fact) value(root string) (Value, error) {
	home := f.Home
	text, err := home.Read(root)
	if f.Stable != nil && strings.Contains(text, "-") && validate(text) == nil {
		home = *f.Stable
		text, err = home.Read(root)
	}
	if err != nil {
		return Value{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if err := validate(text); err != nil {
		return Value{}, fmt.Errorf("%s: %s is %q, %w", home.File, f.Name, text, err)
	}
	return Value{Name: f.Name, Text: text, Home: home.File}, nil
}

// validate refuses what could not be found again in the copies.
func validate(text string) error {
	parsed, err := semver.Parse(text)
	switch {
	case err != nil:
		return errors.New("which is not a semantic version: write three numbers, such as 0.1.0 or 0.2.0-rc.1")
	case len(parsed.Build) > 0:
		return errors.New("which has build metadata: leave out the + and what follows")
	}
	return nil
}

// copiesIn finds what the files repeat.
func (f *fact) copiesIn(files map[string]string, value Value) (all []Copy) {
	for _, p := range f.Copies {
		for name, content := range files {
			if !slices.Contains(f.Except, name) && p.covers(name) {
				all = append(all, p.find(name, content, value)...)
			}
		}
	}
	return all
}

// find finds what a file repeats.
func (c *copies) find(name, content string, value Value) (all []Copy) {
	want := value.Text
	if strings.Contains(c.Find, minor) {
		want = strings.Join(strings.Split(want, ".")[:2], ".")
	}
	for _, at := range c.pattern.FindAllStringSubmatchIndex(content, -1) {
		found := Copy{
			Value: value, File: name, Line: 1 + strings.Count(content[:at[2]], "\n"),
			Has: content[at[2]:at[3]], Want: want, from: at[2], to: at[3],
		}
		if strings.HasPrefix(content[found.to:], "@sha256:") {
			found.Want = found.Has // A release wrote both: with another tag, the digest would be of another image.
		}
		all = append(all, found)
	}
	return all
}

// Err reports the copies that differ, and what has no home.
func (f *Found) Err() error {
	var errs []error
	for _, c := range f.Stale {
		errs = append(errs, fmt.Errorf("%s:%d: %s is %s, and %s in %s, its home: run make generate",
			c.File, c.Line, c.Name, c.Has, c.Want, c.Home))
	}
	return errors.Join(append(errs, f.Twice...)...)
}

// Write changes the copies that differ, and returns the names of the files.
func (f *Found) Write() (changed []string, err error) {
	for _, c := range slices.Backward(f.Stale) { // From the end of a file: what comes before stays in its place.
		path := filepath.Join(f.root, c.File)
		content, err := os.ReadFile(path)
		if err != nil {
			return changed, err
		}
		content = slices.Replace(content, c.from, c.to, []byte(c.Want)...)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, c.File)
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}
