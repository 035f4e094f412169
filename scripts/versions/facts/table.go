package facts

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

//go:embed versions.yaml
var versionsYAML string

// fact is a version, and where it is: see versions.yaml.
type fact struct {
	Name   string          `json:"name"`
	Home   worktree.Place  `json:"home"`
	Stable *worktree.Place `json:"stable"` // the home while the value in Home is a candidate
	Except []string        `json:"except"` // files with values of their own
	Others []string        `json:"others"` // values that a copy may have instead
	Copies []copies        `json:"copies"`
}

// copies are where the value is repeated.
type copies struct {
	In   []string `json:"in"` // groups, or beginnings of file names
	Find string   `json:"find"`

	pattern *regexp.Regexp
}

func (c *copies) covers(file string) bool {
	return slices.ContainsFunc(c.In, func(prefix string) bool { return strings.HasPrefix(file, prefix) })
}

// minor finds a copy of 1.36.3 that is 1.36.
const minor = `(\d+\.\d+)`

var table = readTable()

func readTable() []fact {
	var file struct {
		Groups   map[string][]string `json:"groups"`
		Versions []fact              `json:"versions"`
	}
	full := strings.NewReplacer(
		"{version}", `(\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)`, "{minor}", minor,
		"{value}", `([^\s"/@]*)`, "{begins}", `(?:^|[^\w.-])`)
	if err := yaml.UnmarshalStrict([]byte(full.Replace(versionsYAML)), &file); err != nil {
		panic(err) // The file is a part of this program.
	}
	for _, f := range file.Versions {
		for i := range f.Copies {
			c := &f.Copies[i]
			c.pattern = regexp.MustCompile(c.Find)
			for _, group := range slices.Clone(c.In) {
				c.In = append(c.In, file.Groups[group]...)
			}
		}
	}
	return file.Versions
}

var (
	// unread are files that people do not write: they are generated, or hold values of some time, and have their own
	// tests.
	unread = regexp.MustCompile(`^(bundle/|test/crd/released/|docs/performance|gitops/sources\.json)|` +
		`(^|/)testdata/|_test\.go$|go\.(sum|mod)$`)

	// pinned are an image by tag or digest, a file of a release and a Git repository at a tag.
	pinned = regexp.MustCompile(`[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?/[\w./-]+:v?\d(?:[\w.-]*\w)?|` +
		`sha256:[0-9a-f]{64}|https://\S+/download/v\d+\.\d+\.\d+|https://\S+\?ref=v\d+\.\d+\.\d+`)

	// example is what people replace by their own.
	example = regexp.MustCompile(`^[a-z0-9.-]*(example\.com|localhost)[:/]`)

	// action is a step of a workflow, and the commit that it is pinned to. Each workflow has to repeat it.
	action = regexp.MustCompile(`(?m)^[\s-]*uses: ([\w.-]+/[\w./-]+)@(\S+)`)
)

// settings repeats images of the manifests. A release and make gitops-init write them.
const settings = "gitops/settings/settings.yaml"

// span is the end of a text in a file.
type span struct {
	file string
	end  int
}

// twice finds what is pinned in several files and is not a known copy, and actions that workflows pin to several
// commits. One file may repeat what it pins.
func twice(files map[string]string, known map[span]bool) []error {
	in, pins := index{}, index{}
	for name, content := range files {
		for _, at := range pinned.FindAllStringIndex(content, -1) {
			text := content[at[0]:at[1]]
			if name != settings && !known[span{name, at[1]}] && !example.MatchString(text) {
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
	return append(in.several(home, ", "), pins.several("the workflows use %s at %s: pin it to one", " and ")...)
}

// index is where texts are.
type index map[string]sets.Set[string]

func (x index) add(text, where string) { x[text] = x[text].Union(sets.New(where)) }

// several reports each text that is in several places.
func (x index) several(format, separator string) (found []error) {
	for _, text := range slices.Sorted(maps.Keys(x)) {
		if len(x[text]) > 1 {
			found = append(found, fmt.Errorf(format, text, strings.Join(sets.List(x[text]), separator)))
		}
	}
	return found
}
