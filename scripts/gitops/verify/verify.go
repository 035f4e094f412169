// Package verify finds what is wrong with the tree before Argo CD finds it. The tests break a copy of the repository in
// at least one way for each rule.
package verify

import (
	"cmp"
	"context"
	_ "embed" // for console-oidc.yaml
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// Options are what to verify, and how.
type Options struct {
	Files tree.Files
	// Consumer is not nil if the files are those of a consumer's repository.
	Consumer *tree.Consumer
	// Methods are the install methods to verify. If it is empty, all are verified.
	Methods []string

	cache    tree.Cache // what earlier verifications rendered
	variants []variant  // to verify; nil means all
}

// Report is what was found, and how much was verified.
type Report struct {
	Problems                                 []Problem
	Methods, Variants, Applications, Objects int
}

// Problem is a fault of the tree.
type Problem struct {
	tree.Fault
	Level string
	// Rule is the name of the rule that the tree breaks.
	Rule string
	// Methods are the install methods that have the problem. If it is empty, all have it.
	Methods []string
}

// Levels of problems.
const (
	Error   = "error"
	Warning = "warning"
)

// String returns the problem in one line.
func (p Problem) String() string { return p.Of(p.Methods) }

// Errors counts the problems that are errors.
func (r Report) Errors() int {
	return len(slices.DeleteFunc(slices.Clone(r.Problems), func(p Problem) bool { return p.Level != Error }))
}

// run is one verification.
type run struct {
	Options
	builder *tree.Builder
	argoCD  tree.ArgoCD
	found   []Problem
	report  Report
}

// rules are the rules that verify one tree, with their names.
var rules = []struct {
	name  string
	check func(subject)
}{
	{"complete", complete},
	{"application", applications},
	{"project", projects},
	{"permission", permissions},
	{"schema", everywhere(accepted)},
	{"wave", each(waves)},
	{"order-of-kinds", each(orderOfKinds)},
	{"order-of-namespaces", orderOfNamespaces},
	{"owner", owners},
	{"keep", keep},
	{"image", images},
	{"newest", each(newest)},
	{"architecture", each(architectures)},
	{"leftover", everywhere(leftover)},
}

// Run verifies each install method in each variant, or a consumer's repository.
func Run(ctx context.Context, o Options) (Report, error) {
	r := &run{Options: o}
	if err := r.prepare(ctx); err != nil {
		return Report{}, err
	}
	for _, method := range r.Methods {
		for _, variant := range r.variants {
			if err := r.variant(method, variant); err != nil {
				return Report{}, err
			}
		}
	}
	r.fleets()
	if len(o.Methods) == 0 && o.Consumer == nil {
		r.unreached()
	}
	r.report.Methods, r.report.Problems = len(r.Methods), r.sorted()
	return r.report, nil
}

// prepare decides which install methods and variants to verify, and verifies what is the same in all of them.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.Consumer != nil {
		r.Methods, r.variants = []string{r.Consumer.Method}, []variant{{}}
		if r.builder, err = r.Consumer.Builder(); err == nil {
			r.pinned(tree.Consumed, r.Consumer.URL+"?ref="+r.Consumer.Ref)
		}
		return err
	}
	if err := r.Files.CheckMethods(r.Methods...); err != nil {
		return err
	}
	if len(r.Methods) == 0 {
		r.Methods = r.Files.Methods()
	}
	if r.variants == nil {
		r.variants = variants(r.Files)
	}
	if r.builder, err = tree.New(r.Files, nil); err != nil {
		return err
	}
	if r.cache != nil {
		r.builder.Cache = r.cache
	}
	if err := r.builder.ReadProjects(); err != nil {
		return err
	}
	r.releases()
	r.verifyArgoCD(ctx)
	return r.settings()
}

func (r *run) variant(method string, v variant) error {
	s := subject{builder: r.builder}
	if r.Consumer == nil {
		files, err := r.builder.Files.With(v.own).Variant(v.architecture, v.options...)
		if err != nil {
			return err
		}
		s.builder = r.builder.With(files)
	}
	var err error
	if s.Tree, err = s.builder.Build(method); err != nil {
		return err
	}
	r.report.Variants++
	r.report.Applications += len(s.All())
	for range s.Objects() {
		r.report.Objects++
	}
	for _, rule := range rules {
		s.add = r.reporter(rule.name, method)
		rule.check(s)
	}
	return nil
}

// unreached: each kustomization is rendered by an install method or an option. A kustomization that none of them
// renders was not verified, and has no use.
func (r *run) unreached() {
	for _, file := range r.Files.Kustomizations("gitops") {
		if !r.builder.Cache.Read(file) {
			line := "# - ../" + path.Base(path.Dir(file))
			r.fail("unreached", file, "name it in the kustomization to which it belongs, in a line or in a comment such as "+
				line,
				"no install method and no option renders it")
		}
	}
}

// fail adds an error that does not belong to a certain install method.
func (r *run) fail(rule, file, fix, format string, args ...any) {
	r.reporter(rule)(tree.Fault{File: file, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// reporter returns the function that adds a fault, which a rule found in these install methods, as an error.
func (r *run) reporter(rule string, methods ...string) func(tree.Fault) {
	return func(fault tree.Fault) { r.add(Problem{Fault: fault, Level: Error, Rule: rule, Methods: methods}) }
}

// add adds a problem. The same problem in several install methods or variants is added only once.
func (r *run) add(p Problem) {
	i := slices.IndexFunc(r.found, func(known Problem) bool {
		return known.Level == p.Level && known.Rule == p.Rule && known.Fault == p.Fault
	})
	if i < 0 {
		r.found = append(r.found, p)
		return
	}
	r.found[i].Methods = sets.List(sets.New(r.found[i].Methods...).Insert(p.Methods...))
}

// sorted returns the problems: errors first, and then by file. They name install methods only if not all have the
// problem.
func (r *run) sorted() []Problem {
	problems := append([]Problem{}, r.found...)
	for i := range problems {
		if len(problems[i].Methods) == len(r.Methods) {
			problems[i].Methods = nil
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Level, b.Level), // error comes before warning
			cmp.Compare(a.File, b.File), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Text, b.Text),
		)
	})
	return problems
}

// variant is a choice that a user of the tree can make.
type variant struct {
	architecture string
	options      []string
	own          tree.Files // files that the user has to write for the options
}

// login is the file that a user of the option ingress has to write. The other options in that option's folder need the
// file, too.
const login, ingress = "gitops/console/console-oidc.yaml", "gitops/console/ingress/kustomization.yaml"

//go:embed console-oidc.yaml
var loginExample []byte

// variants returns, for each architecture, a variant without options and one with each option.
func variants(files tree.Files) []variant {
	var all []variant
	for _, architecture := range files.Architectures() {
		all = append(all, variant{architecture: architecture})
		for _, option := range files.Options() {
			v := variant{architecture: architecture, options: []string{option}}
			needed := option == "ingress" || strings.Contains(string(files[ingress]), "# - "+option)
			if needed && files[login] == nil {
				v.own = tree.Files{login: loginExample}
				v.options = append(v.options, "console-oidc")
			}
			all = append(all, v)
		}
	}
	return all
}
