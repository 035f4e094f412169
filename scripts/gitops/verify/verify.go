// Package verify finds what is wrong with the tree before Argo CD does.
package verify

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/render"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/schema"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// Options are what to verify, and how.
type Options struct {
	Files   repo.Files
	Sources string
	// Ways to verify; without any it is all of them.
	Ways []string
	// Strict makes errors of the warnings that a repository before gitops-init has.
	Strict bool
	// Fixtures are objects in each state, by which health checks are tried: a folder for each kind.
	Fixtures fs.FS
	// Cache is what was rendered before, if anything was.
	Cache *render.Cache

	// variants are those to look at; without any it is all of them.
	variants []variant
}

// Report is what was found, and in how much.
type Report struct {
	Problems []Problem `json:"problems"`
	Checked  Checked   `json:"checked"`
}

// Checked counts what was looked at.
type Checked struct {
	Ways         int `json:"ways"`
	Variants     int `json:"variants"`
	Applications int `json:"applications"`
	Objects      int `json:"objects"`
	HealthChecks int `json:"healthChecks"`
	Fixtures     int `json:"fixtures"`
}

// Problem is something to correct.
type Problem struct {
	Level string `json:"level"`
	// Rule is the rule that is broken, by name.
	Rule string `json:"rule"`
	// Ways are those in which it shows; without any it shows in each.
	Ways        []string `json:"ways,omitempty"`
	File        string   `json:"file"`
	Application string   `json:"application,omitempty"`
	Text        string   `json:"text"`
	Remedy      string   `json:"remedy"`
}

// Levels of problems.
const (
	Error   = "error"
	Warning = "warning"
)

// String is the problem in a line.
func (p Problem) String() string {
	where := p.File
	if p.Application != "" {
		where += ", Application " + p.Application
	}
	if len(p.Ways) > 0 {
		where += " (" + strings.Join(p.Ways, ", ") + ")"
	}
	return strings.ReplaceAll(fmt.Sprintf("%s: %s: %s", where, p.Text, p.Remedy), "\n", " ")
}

// Errors counts the problems that are no warnings.
func (r Report) Errors() int {
	n := 0
	for _, p := range r.Problems {
		if p.Level == Error {
			n++
		}
	}
	return n
}

// Run verifies each way in each variant.
func Run(ctx context.Context, o Options) (Report, error) {
	ways, err := o.ways()
	if err != nil {
		return Report{}, err
	}
	builder, err := tree.Prepare(ctx, o.Files, o.Sources)
	if err != nil {
		return Report{}, err
	}
	if o.Cache != nil {
		builder.Cache = o.Cache
	}
	run := &run{options: o, builder: builder, ways: ways, schemas: schema.Schemas{}}
	for _, definition := range builder.Definitions {
		if err := run.schemas.Add(definition); err != nil {
			return Report{}, err
		}
	}
	run.sources()
	if err := run.settings(); err != nil {
		return Report{}, err
	}
	run.argoCD(ctx)
	if o.variants == nil {
		o.variants = variants(o.Files)
	}
	for _, way := range ways {
		for _, variant := range o.variants {
			if err := run.variant(way, variant); err != nil {
				return Report{}, err
			}
		}
	}
	if len(o.Ways) == 0 {
		run.unreached()
	}
	run.checked.Ways = len(ways)
	return Report{Problems: run.sorted(), Checked: run.checked}, nil
}

// unreached: what no way and no option is made of was not looked at, and is of no use.
func (r *run) unreached() {
	for _, file := range r.options.Files.Kustomizations("gitops") {
		if !r.builder.Cache.Read(file) {
			r.add(Problem{
				Level: Error, Rule: "unreached", File: file, Text: "neither a way nor an option of one is made of it",
				Remedy: "name it where it belongs, in a line or in a comment such as # - ../" + path.Base(path.Dir(file)),
			})
		}
	}
}

func (o Options) ways() ([]string, error) {
	known := o.Files.Ways()
	if len(o.Ways) == 0 {
		return known, nil
	}
	for _, way := range o.Ways {
		if !slices.Contains(known, way) {
			return nil, fmt.Errorf("way %q: choose from %s", way, strings.Join(known, ", "))
		}
	}
	return o.Ways, nil
}

// run is one verification.
type run struct {
	options Options
	builder *tree.Builder
	ways    []string
	argo    argo.Settings
	schemas schema.Schemas
	found   []Problem
	checked Checked
}

// subject is what the rules of a tree look at.
type subject struct {
	*tree.Tree
	builder *tree.Builder
	schemas schema.Schemas
	report  func(Problem)
}

func (s subject) fail(file, application, text, remedy string) {
	s.report(Problem{Level: Error, File: file, Application: application, Text: text, Remedy: remedy})
}

// at is the place of an object: its file, or the release that it is from.
func at(o tree.Object) string {
	if o.Source != "" {
		return o.Source
	}
	return o.File
}

// rules are what each tree is held to, by name.
var rules = []struct {
	name  string
	check func(subject)
}{
	{"whole", whole},
	{"application", applications},
	{"project", projects},
	{"permission", permissions},
	{"scope", scopes},
	{"schema", schemas},
	{"wave", waves},
	{"order-of-kinds", orderOfKinds},
	{"order-of-namespaces", orderOfNamespaces},
	{"owner", owners},
	{"keep", keep},
	{"image", images},
	{"newest", newest},
	{"architecture", architectures},
	{"leftover", leftovers},
}

func (r *run) variant(way string, v variant) error {
	files, err := v.of(r.builder.Files)
	if err != nil {
		return err
	}
	t, err := r.builder.With(files).Build(way)
	if err != nil {
		return err
	}
	r.count(t)
	for _, rule := range rules {
		rule.check(subject{Tree: t, builder: r.builder.With(files), schemas: r.schemas, report: func(p Problem) {
			p.Rule, p.Ways = rule.name, []string{way}
			r.add(p)
		}})
	}
	return nil
}

func (r *run) count(t *tree.Tree) {
	r.checked.Variants++
	r.checked.Applications += len(t.All())
	for _, app := range t.All() {
		r.checked.Objects += len(app.Objects)
	}
}
