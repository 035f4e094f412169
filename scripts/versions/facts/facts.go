// Package facts knows where the repository names versions, images and digests: the home of each, which people change,
// and the copies, which have to agree with it.
package facts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Found is what the files of a repository name.
type Found struct {
	Values []Value
	Stale  []Copy
	Twice  []string // images, digests and actions that have no home, and are in several files

	root string
}

// Value is a version, as its home has it.
type Value struct {
	Name, Text, Home string
	Copies           int

	at span
}

// Copy is one that differs from its home.
type Copy struct {
	Value
	File     string
	Line     int
	Has      string
	Want     string
	from, to int // in the file
}

func (c Copy) String() string {
	return fmt.Sprintf("%s:%d: %s is %s, and %s in %s, its home: run make versions",
		c.File, c.Line, c.Name, c.Has, c.Want, c.Home)
}

// Read looks through the files that git tracks.
func Read(ctx context.Context, root string) (*Found, error) {
	out, err := worktree.Git(ctx, root, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	return read(root, strings.FieldsFunc(out, func(r rune) bool { return r == 0 }))
}

func read(root string, names []string) (*Found, error) {
	files, err := contents(root, names)
	if err != nil {
		return nil, err
	}
	found, known, err := compare(root, files, table)
	if err != nil {
		return nil, err
	}
	found.Twice = slices.Concat(twice(files, known), apart(files))
	return found, nil
}

// Write changes the copies of some versions in some files of a tree. The tree may lack all other homes.
func Write(root string, names []string, versions ...string) error {
	files, err := contents(root, names)
	if err != nil {
		return err
	}
	some := slices.DeleteFunc(slices.Clone(table), func(f fact) bool { return !slices.Contains(versions, f.name) })
	homes, err := contents(root, homesOf(some))
	if err != nil {
		return err
	}
	maps.Copy(files, homes)
	found, _, err := compare(root, files, some)
	if err != nil {
		return err
	}
	found.Stale = slices.DeleteFunc(found.Stale, func(c Copy) bool { return !slices.Contains(names, c.File) })
	_, err = found.Write()
	return err
}

func homesOf(versions []fact) (names []string) {
	for _, f := range versions {
		names = append(names, f.home)
		if f.stable != nil {
			names = append(names, f.stable.in...)
		}
	}
	return names
}

// compare looks for the copies of versions, and returns also where they are.
func compare(root string, files map[string]string, versions []fact) (*Found, map[span]bool, error) {
	found := &Found{root: root}
	known := map[span]bool{}
	for i := range versions {
		value, err := versions[i].value(files)
		if err != nil {
			return nil, nil, err
		}
		known[value.at] = true
		for name, content := range files {
			for _, c := range versions[i].copiesIn(name, content, value) {
				value.Copies++
				known[span{name, c.to}] = true
				if c.Has != c.Want && versions[i].others[c.Has] == "" {
					found.Stale = append(found.Stale, c)
				}
			}
		}
		found.Values = append(found.Values, value)
	}
	slices.SortFunc(found.Stale, func(a, b Copy) int {
		return strings.Compare(fmt.Sprintf("%s:%9d", a.File, a.from), fmt.Sprintf("%s:%9d", b.File, b.from))
	})
	return found, known, nil
}

func contents(root string, names []string) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // One that was deleted, and not committed yet.
			return nil, err
		}
		files[name] = string(content)
	}
	return files, nil
}

// value reads the home of a version.
func (f *fact) value(files map[string]string) (Value, error) {
	home, find := f.home, f.find
	for {
		at := regexp.MustCompile(find).FindStringSubmatchIndex(files[home])
		if at == nil {
			return Value{}, fmt.Errorf("%s: %s is not there, and this is its home: nothing matches %s", home, f.name, find)
		}
		text := files[home][at[2]:at[3]]
		if err := validate(text); err != nil {
			return Value{}, fmt.Errorf("%s: %s is %q, %w", home, f.name, text, err)
		}
		if f.stable == nil || home != f.home || !strings.Contains(text, "-") {
			return Value{Name: f.name, Text: text, Home: home, at: span{home, at[3]}}, nil
		}
		home, find = f.stable.in[0], f.stable.find
	}
}

// validate refuses what could not be found again in the copies.
func validate(text string) error {
	parsed, err := semver.Parse(text)
	switch {
	case err != nil:
		return errors.New("which is no semantic version: write three numbers, such as 0.1.0 or 0.2.0-rc.1")
	case len(parsed.Build) > 0:
		return errors.New("which has build metadata: leave out the + and what follows")
	}
	return nil
}

// copiesIn finds what a file repeats.
func (f *fact) copiesIn(name, content string, value Value) (copies []Copy) {
	if unread.MatchString(name) {
		return nil
	}
	for _, p := range f.copies {
		in := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if !slices.ContainsFunc(p.in, in) || slices.Contains(p.except, name) {
			continue
		}
		want := value.Text
		if p.part != nil {
			want = p.part(want)
		}
		for _, at := range regexp.MustCompile(p.find).FindAllStringSubmatchIndex(content, -1) {
			c := Copy{
				Value: value, File: name, Line: 1 + strings.Count(content[:at[2]], "\n"),
				Has: content[at[2]:at[3]], Want: want, from: at[2], to: at[3],
			}
			if strings.HasPrefix(content[c.to:], "@sha256:") {
				c.Want = c.Has // A release wrote both: with another tag, the digest would be of another image.
			}
			copies = append(copies, c)
		}
	}
	return copies
}

// Err reports the copies that differ, and what has no home.
func (f *Found) Err() error {
	var errs []error
	for _, c := range f.Stale {
		errs = append(errs, errors.New(c.String()))
	}
	for _, text := range f.Twice {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// Write changes the copies that differ, and returns the names of the files.
func (f *Found) Write() (changed []string, err error) {
	for _, c := range slices.Backward(f.Stale) { // From the end of a file on: what was found before stays in its place.
		path := filepath.Join(f.root, c.File)
		content, err := os.ReadFile(path)
		if err != nil {
			return changed, err
		}
		text := string(content[:c.from]) + c.Want + string(content[c.to:])
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return changed, err
		}
		if !slices.Contains(changed, c.File) {
			changed = append(changed, c.File)
		}
	}
	slices.Sort(changed)
	return changed, nil
}
