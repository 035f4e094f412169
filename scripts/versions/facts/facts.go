// Package facts compares the versions, images and digests that the repository names. Each of them has one home, the
// place where people change it, and copies, which must have the same value.
package facts

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

//go:embed versions.yaml
var versionsYAML string

// fact is a version, an image or a digest, with its home and its copies: see versions.yaml.
type fact struct {
	Name   string          `json:"name"`
	Home   worktree.Place  `json:"home"`
	Stable *worktree.Place `json:"stable"` // used instead of Home while the value in Home is a candidate
	Except []string        `json:"except"` // files that may have other values
	Others []string        `json:"others"` // values that a copy may have instead
	Copies []copies        `json:"copies"`
}

// copies says in which files the value is repeated, and where in them.
type copies struct {
	In   *regexp.Regexp `json:"in"` // matches the names of the files
	Find *regexp.Regexp `json:"find"`
}

// minor matches a copy that has only the minor version: 1.36 for 1.36.3.
const minor = `(\d+\.\d+)`

var table = readTable()

func readTable() (versions []fact) {
	full := strings.NewReplacer(
		"{version}", `(\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)`, "{minor}", minor,
		"{value}", `([^\s"/@]*)`, "{begins}", `(?:^|[^\w.-])`,
		"{pages}", `docs/|README\.md|CONTRIBUTING\.md`,
		"{manifests}", `operator/config/|overlays/|gitops/(?:operator|platform|bootstrap)/`)
	if err := yaml.UnmarshalStrict([]byte(full.Replace(versionsYAML)), &versions); err != nil {
		panic(err) // The file is embedded, so this is a mistake in the program.
	}
	return versions
}

var (
	// unread matches files that are not read, because people do not write them. They are generated, or have the values of
	// an earlier time, and have separate tests.
	unread = regexp.MustCompile(`^(bundle/|test/(crd/released|faults)/|docs/performance|gitops/sources\.json)|` +
		`(^|/)testdata/|_test\.go$|go\.(sum|mod)$`)

	// pinned matches an image with a tag, a digest, the URL of a release's file, and the URL of a Git repository at a tag.
	pinned = regexp.MustCompile(`[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?/[\w./-]+:v?\d(?:[\w.-]*\w)?|` +
		`sha256:[0-9a-f]{64}|https://\S+/download/v\d+\.\d+\.\d+|https://\S+\?ref=v\d+\.\d+\.\d+`)

	// example matches images that people replace by other images.
	example = regexp.MustCompile(`^[a-z0-9.-]*(example\.com|localhost)[:/]`)

	// action matches the action of a step in a workflow, and the commit to which it is pinned. Each workflow that uses an
	// action has to repeat the commit.
	action = regexp.MustCompile(`(?m)^[\s-]*uses: ([\w.-]+/[\w./-]+)@(\S+)`)
)

// settings is a file that repeats images of the manifests. Releases and make gitops-init write these images.
const settings = "gitops/settings/settings.yaml"

// Found has the versions that the files of a repository name, and what is wrong with them.
type Found struct {
	Values []Value
	Stale  []Copy
	Twice  []error // errors about images, digests and actions that are in several files and have no home

	root string
}

// Value is the value that a version has in its home.
type Value struct {
	Name, Text, Home string
	Copies           int
}

// Copy is a place where a file repeats a version.
type Copy struct {
	Value

	File, Has, Want string
	Line            int
	from, to        int // offsets of the copy in the file
}

// Read reads the files of a work tree, and compares the copies in them with their homes.
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
	found := &Found{root: root}
	var known []Copy
	for _, f := range table {
		value, err := f.value(root)
		if err != nil {
			return nil, err
		}
		all := f.copiesIn(files, value)
		value.Copies = len(all)
		found.Values = append(found.Values, value)
		known = append(known, all...)
		for _, c := range all {
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

// validate returns an error for a value that, once written into the copies, could not be found there again.
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

// copiesIn returns the copies in all files.
func (f *fact) copiesIn(files map[string]string, value Value) (all []Copy) {
	for _, p := range f.Copies {
		for name, content := range files {
			if !slices.Contains(f.Except, name) && p.In.MatchString(name) {
				all = append(all, p.find(name, content, value)...)
			}
		}
	}
	return all
}

// find returns the copies in one file.
func (c *copies) find(name, content string, value Value) (all []Copy) {
	want := value.Text
	if strings.Contains(c.Find.String(), minor) {
		want = strings.Join(strings.Split(want, ".")[:2], ".")
	}
	for _, at := range c.Find.FindAllStringSubmatchIndex(content, -1) {
		found := Copy{
			Value: value, File: name, Line: 1 + strings.Count(content[:at[2]], "\n"),
			Has: content[at[2]:at[3]], Want: want, from: at[2], to: at[3],
		}
		if strings.HasPrefix(content[found.to:], "@sha256:") {
			found.Want = found.Has // A release wrote the tag and the digest, which belong together.
		}
		all = append(all, found)
	}
	return all
}

// Err returns an error with the copies that differ from their homes, and with the values that have no home.
func (f *Found) Err() error {
	var errs []error
	for _, c := range f.Stale {
		errs = append(errs, fmt.Errorf("%s:%d: %s is %s, but it is %s in its home %s: run make generate",
			c.File, c.Line, c.Name, c.Has, c.Want, c.Home))
	}
	return errors.Join(append(errs, f.Twice...)...)
}

// Write corrects the copies that differ, and returns the names of the changed files.
func (f *Found) Write() (changed []string, err error) {
	for _, c := range slices.Backward(f.Stale) { // in reverse, so that earlier offsets in a file stay valid
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

// twice finds values that are pinned in several files and are not known copies, and actions that workflows pin to
// several commits. A value that one file has several times is no problem.
func twice(files map[string]string, known []Copy) []error {
	in, pins := index{}, index{}
	for name, content := range files {
		for _, at := range pinned.FindAllStringIndex(content, -1) {
			text := content[at[0]:at[1]]
			isCopy := slices.ContainsFunc(known, func(c Copy) bool { return c.File == name && c.to == at[1] })
			if name != settings && !isCopy && !example.MatchString(text) {
				in.add(text, name)
			}
		}
		if strings.HasPrefix(name, ".github/") {
			for _, match := range action.FindAllStringSubmatch(content, -1) {
				pins.add(match[1], match[2])
			}
		}
	}
	const home = "%s is in %s: make one of them its home in scripts/versions/facts/versions.yaml, and the others copies"
	return append(in.several(home, ", "), pins.several("the workflows pin %s to different commits (%s): "+
		"pin it to one commit", " and ")...)
}

// index has, for each text, the places where it is.
type index map[string]sets.Set[string]

func (x index) add(text, where string) { x[text] = x[text].Union(sets.New(where)) }

// several returns an error for each text that is in several places.
func (x index) several(format, separator string) (found []error) {
	for _, text := range slices.Sorted(maps.Keys(x)) {
		if len(x[text]) > 1 {
			found = append(found, fmt.Errorf(format, text, strings.Join(sets.List(x[text]), separator)))
		}
	}
	return found
}
