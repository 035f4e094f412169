package facts

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/place"
)

//go:embed versions.yaml
var versionsYAML []byte

// fact is a version, and where it is: see versions.yaml.
type fact struct {
	Name   string       `json:"name"`
	Home   place.Place  `json:"home"`
	Stable *place.Place `json:"stable"` // the home while the value in Home is a candidate
	Except []string     `json:"except"` // files with values of their own
	Others []string     `json:"others"` // values that a copy may have instead
	Copies []copies     `json:"copies"`
}

// copies are where the value is repeated.
type copies struct {
	In   []string `json:"in"` // groups, or beginnings of file names
	Find string   `json:"find"`

	minor   bool // the copy is 1.36 of 1.36.3
	pattern *regexp.Regexp
}

var table = readTable()

func readTable() []fact {
	var file struct {
		Groups   map[string][]string `json:"groups"`
		Versions []fact              `json:"versions"`
	}
	if err := yaml.UnmarshalStrict(versionsYAML, &file); err != nil {
		panic(err) // The file is a part of this program.
	}
	full := strings.NewReplacer(
		"{version}", `(\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)`, "{minor}", `(\d+\.\d+)`,
		"{value}", `([^\s"/@]*)`, "{begins}", `(?:^|[^\w.-])`)
	for i := range file.Versions {
		f := &file.Versions[i]
		f.Home.Find = full.Replace(f.Home.Find)
		if f.Stable != nil {
			f.Stable.Find = full.Replace(f.Stable.Find)
		}
		for j := range f.Copies {
			c := &f.Copies[j]
			c.minor, c.pattern = strings.Contains(c.Find, "{minor}"), regexp.MustCompile(full.Replace(c.Find))
			for _, group := range slices.Clone(c.In) {
				c.In = append(c.In, file.Groups[group]...)
			}
		}
	}
	return file.Versions
}

// unread are files that people do not write: they are generated, or hold values of some time, and have their own tests.
var unread = regexp.MustCompile(`^(bundle/|test/crd/released/|docs/performance|gitops/sources\.json)|` +
	`(^|/)testdata/|_test\.go$|go\.(sum|mod)$`)
