package plan

import (
	"maps"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// What can have happened to an object.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Diff is what differs between a tree at a revision and the same tree now.
type Diff struct {
	Way          string `json:"method"`
	Architecture string `json:"architecture"`
	From         string `json:"from"`
	// Sources are releases of other projects that are new, or no longer used.
	Sources []SourceChange `json:"sources"`
	Changes []Change       `json:"changes"`

	listed bool // of a source only the names are known
}

// SourceChange is a source that an Application has got or lost.
type SourceChange struct {
	Application string `json:"application,omitempty"`
	Change      string `json:"change"`
	Source      string `json:"source"`
}

// Change is an object that differs.
type Change struct {
	// Application is empty for what is applied by hand.
	Application string `json:"application,omitempty"`
	Change      string `json:"change"`
	Object      Object `json:"object"`
	// Diff is a unified diff of the object.
	Diff string `json:"diff,omitempty"`
}

// Compare tells what differs between two plans.
func Compare(before, after Plan, from string) Diff {
	diff := Diff{
		Way: after.Way, Architecture: after.Architecture, From: from, Sources: []SourceChange{}, Changes: []Change{},
	}
	then, now := before.applications(), after.applications()
	for _, name := range union(then, now) {
		diff.Sources = append(diff.Sources, compareSources(name, then[name].Sources, now[name].Sources)...)
		diff.listed = diff.listed || now[name].listed()
		diff.Changes = append(diff.Changes, compare(name, then[name].byKey(), now[name].byKey())...)
	}
	return diff
}

// applications are all of a plan by name, what is applied by hand under none.
func (p Plan) applications() map[string]Application {
	found := map[string]Application{}
	for _, app := range append([]Application{p.ByHand, p.Root}, p.Applications...) {
		found[app.Name] = app
	}
	return found
}

func (a Application) listed() bool {
	return slices.ContainsFunc(a.Objects, func(o Object) bool { return o.StandIn })
}

func (a Application) byKey() map[string]Object {
	found := map[string]Object{}
	for _, object := range a.Objects {
		found[object.key()] = object
	}
	return found
}

func compareSources(application string, then, now []string) []SourceChange {
	var changes []SourceChange
	for _, source := range sorted(slices.Concat(then, now)) {
		switch {
		case !slices.Contains(then, source):
			changes = append(changes, SourceChange{application, Added, source})
		case !slices.Contains(now, source):
			changes = append(changes, SourceChange{application, Removed, source})
		}
	}
	return changes
}

func (o Object) key() string {
	return strings.Join([]string{o.Kind, o.Group, o.Namespace, o.Name}, "|")
}

func union[V any](a, b map[string]V) []string {
	return sorted(slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))))
}

func compare(application string, then, now map[string]Object) []Change {
	var changes []Change
	for _, key := range union(then, now) {
		before, was := then[key]
		after, is := now[key]
		change := Change{Application: application, Change: Changed, Object: after}
		switch {
		case !was:
			change.Change = Added
		case !is:
			change.Change, change.Object = Removed, before
		default:
			change.Diff = udiff.Unified("before", "after", before.comparable(), after.comparable())
			if change.Diff == "" {
				continue
			}
		}
		changes = append(changes, change)
	}
	return changes
}

// comparable is the object, and the images of one that only stands in for the real one: they are not in it.
func (o Object) comparable() string {
	if !o.StandIn {
		return o.manifest
	}
	return o.manifest + "# images: " + strings.Join(o.Images, " ") + "\n"
}
