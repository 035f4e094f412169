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

// diff writes what differs between the plan of a revision and this one of the working tree.
func (p plan) diff(out io.Writer, before plan, from string) {
	fmt.Fprintf(out, "%s  from %s to the working tree\n", bold(p.Method+" on "+p.Settings["architecture"]), from)
	then, now := byName(before), byName(p)
	var total counts
	for _, name := range union(then, now) {
		var text strings.Builder
		was, is := sources(then[name]), sources(now[name])
		for _, source := range sets.List(was.SymmetricDifference(is)) {
			if is.Has(source) {
				fmt.Fprintf(&text, "  %s\n", color.GreenString("+ from %s", source))
			} else {
				fmt.Fprintf(&text, "  %s\n", color.RedString("- from %s", source))
			}
		}
		total.compare(&text, byKey(then[name]), byKey(now[name]))
		if text.Len() > 0 {
			heading := cmp.Or(name, "by hand: apply "+p.Bootstrap+" again")
			fmt.Fprintf(out, "\n%s\n%s", bold(heading), text.String())
		}
	}
	fmt.Fprintf(out, "\n%d added, %d changed, %d removed\n", total.added, total.changed, total.removed)
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

type counts struct{ added, changed, removed int }

func (c *counts) compare(out io.Writer, then, now map[string]tree.Object) {
	for _, key := range union(then, now) {
		before, was := then[key]
		after, is := now[key]
		switch {
		case !was:
			c.added++
			fmt.Fprintf(out, "  %s\n", color.GreenString("+ %s", after))
		case !is:
			c.removed++
			note := ""
			if slices.Contains(before.Keep(), "prune") {
				note = "  stays in the cluster"
			}
			fmt.Fprintf(out, "  %s%s\n", color.RedString("- %s", before), note)
		default:
			if diff := udiff.Unified("before", "after", manifest(before), manifest(after)); diff != "" {
				c.changed++
				fmt.Fprintf(out, "  %s\n", color.YellowString("~ %s", after))
				writeDiff(out, diff)
			}
		}
	}
}

func manifest(o tree.Object) string {
	content, _ := yaml.Marshal(o.Object) // No object of kustomize has values that YAML can't hold.
	return string(content)
}

func writeDiff(out io.Writer, diff string) {
	for line := range strings.Lines(diff) {
		paint := fmt.Sprint
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			continue
		case line[0] == '+':
			paint = color.New(color.FgGreen).Sprint
		case line[0] == '-':
			paint = color.New(color.FgRed).Sprint
		case line[0] == '@':
			paint = dim
		}
		fmt.Fprintf(out, "      %s\n", paint(strings.TrimSuffix(line, "\n")))
	}
}
