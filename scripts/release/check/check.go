// Package check holds the rules that OLM, its validators and the catalogs of the community have for bundles and
// catalogs, as far as ours can break them, and a few of our own.
package check

import (
	"errors"
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
)

// Problem is a rule that is broken.
type Problem struct {
	Rule    string
	Message string
}

func (p Problem) String() string { return p.Rule + ": " + p.Message }

// rule looks at a bundle or a catalog and tells what is wrong with it.
type rule[T any] struct {
	name  string
	check func(T) messages
}

func apply[T any](rules []rule[T], subject T) (problems []Problem) {
	for _, r := range rules {
		for _, message := range r.check(subject) {
			problems = append(problems, Problem{r.name, message})
		}
	}
	return problems
}

func namesOf[T any](rules []rule[T]) (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// Bundle tells what is wrong with a bundle. Where it can't be read at all, that is the only problem.
func Bundle(files bundle.Files) []Problem {
	v, problem := read(files)
	if problem != "" {
		return []Problem{{ruleReadable, problem}}
	}
	return apply(bundleRules, v)
}

// BundleRules are the names of the rules for bundles.
func BundleRules() []string { return append([]string{ruleReadable}, namesOf(bundleRules)...) }

// Catalog tells what is wrong with a catalog.
func Catalog(c *catalog.Catalog) []Problem { return apply(catalogRules, c) }

// CatalogRules are the names of the rules for catalogs.
func CatalogRules() []string { return namesOf(catalogRules) }

// Errors makes one error of problems.
func Errors(problems []Problem) error {
	var errs []error
	for _, p := range problems {
		errs = append(errs, errors.New(p.String()))
	}
	return errors.Join(errs...)
}

// messages are what is said of a rule.
type messages []string

// when adds a message if the rule is broken.
func (m *messages) when(broken bool, format string, args ...any) {
	if broken {
		*m = append(*m, fmt.Sprintf(format, args...))
	}
}

// one is the message of a rule that is broken, or none of a rule that is kept.
func one(broken bool, format string, args ...any) (m messages) {
	m.when(broken, format, args...)
	return m
}
