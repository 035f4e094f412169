package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// difference is what differs between the plan of a Git revision and the plan of the working tree.
type difference struct {
	title, from string
	parts       []part
	pods        []pods
}

// part is what differs in one Application, or in the objects that the user applies by hand.
type part struct {
	name    string
	changes []change
}

// change is an object, or the URL of a release, that is added (+), removed (-) or changed (~).
type change struct{ mark, what, note, diff string }

// since returns what differs between the plan before, which is of the Git revision from, and this plan.
func (p plan) since(before plan, from string) difference {
	d := difference{title: p.Method + " on " + p.Settings["architecture"], from: from}
	then, now := byName(before), byName(p)
	for _, name := range union(then, now) {
		var changes []change
		was, is := sources(then[name]), sources(now[name])
		for _, source := range sets.List(was.SymmetricDifference(is)) {
			mark := map[bool]string{true: "+", false: "-"}[is.Has(source)]
			changes = append(changes, change{mark: mark, what: "from " + source})
		}
		changes = append(changes, compare(byKey(then[name]), byKey(now[name]))...)
		if len(changes) > 0 {
			d.parts = append(d.parts, part{cmp.Or(name, "not by Argo CD: apply "+p.Bootstrap+" again"), changes})
		}
	}
	return d
}

func byName(p plan) map[string][]tree.Object {
	found := map[string][]tree.Object{}
	for _, part := range p.parts() {
		found[part.Name] = part.Objects
	}
	return found
}

func byKey(objects []tree.Object) map[string]tree.Object {
	found := map[string]tree.Object{}
	for _, o := range objects {
		found[o.Key()] = o
	}
	return found
}

func union[V any](a, b map[string]V) []string { return sets.List(sets.KeySet(a).Union(sets.KeySet(b))) }

func compare(then, now map[string]tree.Object) (changes []change) {
	for _, key := range union(then, now) {
		before, was := then[key]
		after, is := now[key]
		switch {
		case !was:
			changes = append(changes, change{mark: "+", what: after.String()})
		case !is:
			note := ""
			if slices.Contains(before.Keep(), "prune") {
				note = "stays in the cluster"
			}
			changes = append(changes, change{mark: "-", what: before.String(), note: note})
		default:
			if diff := udiff.Unified("before", "after", manifest(before), manifest(after)); diff != "" {
				_, diff, _ = strings.Cut(diff, "\n@@")
				changes = append(changes, change{mark: "~", what: after.String(), diff: "@@" + diff})
			}
		}
	}
	return changes
}

func manifest(o tree.Object) string {
	content, _ := yaml.Marshal(o.Object) // The objects that kustomize prints have only values that YAML can hold.
	return string(content)
}

// total counts the objects that are added, changed and removed. It does not count lines with the URL of a release.
func (d difference) total() string {
	count := map[string]int{}
	for _, part := range d.parts {
		for _, c := range part.changes {
			if !strings.HasPrefix(c.what, "from ") {
				count[c.mark]++
			}
		}
	}
	return fmt.Sprintf("%d added, %d changed, %d removed", count["+"], count["~"], count["-"])
}

var paints = map[string]func(string, ...any) string{
	"+": color.GreenString, "-": color.RedString, "~": color.YellowString,
	"@": color.New(color.Faint).SprintfFunc(), " ": fmt.Sprintf,
}

// text writes a difference for a terminal.
func (d difference) text(out io.Writer) {
	fmt.Fprintf(out, "%s  from %s to the working tree\n", bold(d.title), d.from)
	for _, part := range d.parts {
		fmt.Fprintf(out, "\n%s\n", bold(part.name))
		for _, c := range part.changes {
			line := fmt.Sprintf("  %s  %s", paints[c.mark]("%s %s", c.mark, c.what), c.note)
			fmt.Fprintln(out, strings.TrimRight(line, " "))
			for line := range strings.Lines(c.diff) {
				fmt.Fprintf(out, "      %s\n", paints[line[:1]]("%s", strings.TrimSuffix(line, "\n")))
			}
		}
	}
	fmt.Fprintf(out, "\n%s\n", d.total())
	for _, p := range d.pods {
		line := fmt.Sprintf("  Pods of %s %s  %s", p.cache, bold(p.Pods), p.Why)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

// longest is how many lines of an object's diff a comment in a pull request shows at most, because forges limit the
// length of a comment.
const longest = 60

// markdown writes a difference for a comment in a pull request: one line for each Application, which unfolds to its
// changes.
func (d difference) markdown(out io.Writer) {
	fmt.Fprintf(out, "### Memcached operator: %s\n\nFrom `%s`: %s in %d Applications. %s\n",
		d.title, d.from, d.total(), len(d.parts), d.summary())
	if len(d.pods) > 0 {
		fmt.Fprint(out, "\n| cache | Pods | why |\n| --- | --- | --- |\n")
	}
	for _, p := range d.pods {
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", p.cache, p.Pods, strings.ReplaceAll(p.Why, "|", `\|`))
	}
	for _, part := range d.parts {
		fmt.Fprintf(out, "\n<details><summary><b>%s</b>: %d</summary>\n\n```diff\n", part.name, len(part.changes))
		for _, c := range part.changes {
			// Forges colour a line by its first character. They know !, and not ~.
			fmt.Fprintln(out, strings.TrimSpace(strings.Replace(c.mark, "~", "!", 1)+" "+c.what+"  "+c.note))
			lines := strings.SplitAfter(strings.TrimSuffix(c.diff, "\n"), "\n")
			if more := len(lines) - longest; more > 0 {
				lines = append(lines[:longest], fmt.Sprintf("(%d more lines)", more))
			}
			if c.diff != "" {
				fmt.Fprintln(out, strings.Join(lines, ""))
			}
		}
		fmt.Fprint(out, "```\n\n</details>\n")
	}
}
