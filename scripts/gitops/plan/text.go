package plan

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/paint"
)

// Text writes a plan for people.
func (p Plan) Text(out io.Writer, c paint.Colours) {
	fmt.Fprintf(out, "%s  %s at %s\n", c.Bold(heading(p.Way, p.Architecture, p.Options)), p.Repository, p.Revision)
	if len(p.Given) > 0 {
		fmt.Fprintf(out, "The cluster must have: %s\n", strings.Join(p.Given, ", "))
	}
	fmt.Fprintf(out, "\n%s  %s\n", c.Bold("by hand"), "kubectl apply --server-side -k "+p.ByHand.Path)
	p.ByHand.objects(out, c)
	p.Root.text(out, c, "root")
	for _, app := range p.Applications {
		app.text(out, c, fmt.Sprintf("wave %d", app.Wave))
	}
	fmt.Fprintf(out, "\nHealth: %s is by a check of this tree, %s by one that it brings. With %s, being there is all.\n",
		argo.Ours, argo.BuiltIn, argo.Nobody)
}

func heading(way, architecture string, options []string) string {
	text := way + " on " + architecture
	if len(options) > 0 {
		text += " with " + strings.Join(options, ", ")
	}
	return text
}

func (a Application) text(out io.Writer, c paint.Colours, when string) {
	fmt.Fprintf(out, "\n%s  %s  %s\n", c.Bold(when), c.Bold(a.Name),
		c.Dim(fmt.Sprintf("path %s, project %s, namespace %s", a.Path, a.Project, a.Namespace)))
	a.objects(out, c)
	for _, source := range a.Sources {
		fmt.Fprintf(out, "  %s %s%s\n", c.Dim("from "), source, c.Dim(a.note(source)))
	}
	for _, image := range a.Images {
		fmt.Fprintf(out, "  %s %s\n", c.Dim("image"), image)
	}
}

// note says of a source that it was not read.
func (a Application) note(source string) string {
	if slices.ContainsFunc(a.Objects, func(o Object) bool { return o.Source == source && o.StandIn }) {
		return " (as listed)"
	}
	return ""
}

// objects writes one a line: wave, kind, name, who judges its health, what it is kept for.
func (a Application) objects(out io.Writer, c paint.Colours) {
	kinds, names := 0, 0
	for _, o := range a.Objects {
		kinds, names = max(kinds, len(o.Kind)), max(names, len(o.path()))
	}
	for _, o := range a.Objects {
		line := fmt.Sprintf("  %3d  %s  %s  %s  %s", o.Wave, c.Kind(pad(o.Kind, kinds)), pad(o.path(), names),
			judge(c, o.Health), c.Warn(o.kept()))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

func judge(c paint.Colours, health argo.Judge) string {
	text := pad(string(health), len(argo.BuiltIn))
	if health == argo.Nobody {
		return c.Dim(text)
	}
	return c.Good(text)
}

func (o Object) kept() string {
	if len(o.Keep) == 0 {
		return ""
	}
	return "kept on " + strings.Join(o.Keep, " and ")
}

func (o Object) path() string { return strings.TrimPrefix(o.Namespace+"/"+o.Name, "/") }

func pad(text string, width int) string { return text + strings.Repeat(" ", width-len(text)) }

// Text writes a diff for people.
func (d Diff) Text(out io.Writer, c paint.Colours) {
	fmt.Fprintf(out, "%s  from %s to the working tree\n", c.Bold(heading(d.Way, d.Architecture, nil)), d.From)
	for _, name := range d.applications() {
		fmt.Fprintf(out, "\n%s\n", c.Bold(cmp.Or(name, "by hand: apply gitops/bootstrap/"+d.Way+" again")))
		for _, source := range d.Sources {
			if source.Application == name {
				source.text(out, c)
			}
		}
		for _, change := range d.Changes {
			if change.Application == name {
				change.text(out, c)
			}
		}
	}
	fmt.Fprintf(out, "\n%d added, %d changed, %d removed\n", d.count(Added), d.count(Changed), d.count(Removed))
	if len(d.Sources) > 0 && d.listed {
		fmt.Fprintln(out, "What a release changes within its objects is shown with --sources fetch.")
	}
}

// applications are those that something differs in, in the order of their names.
func (d Diff) applications() []string {
	var names []string
	for _, source := range d.Sources {
		names = append(names, source.Application)
	}
	for _, change := range d.Changes {
		names = append(names, change.Application)
	}
	return sorted(names)
}

func (s SourceChange) text(out io.Writer, c paint.Colours) {
	if s.Change == Added {
		fmt.Fprintf(out, "  %s\n", c.Good("+ from "+s.Source))
		return
	}
	fmt.Fprintf(out, "  %s\n", c.Bad("- from "+s.Source))
}

func (d Diff) count(what string) int {
	n := 0
	for _, change := range d.Changes {
		if change.Change == what {
			n++
		}
	}
	return n
}

func (ch Change) text(out io.Writer, c paint.Colours) {
	name := ch.Object.Kind + " " + ch.Object.path()
	switch ch.Change {
	case Added:
		fmt.Fprintf(out, "  %s\n", c.Good("+ "+name))
	case Removed:
		note := ""
		if slices.Contains(ch.Object.Keep, KeptOnPrune) {
			note = "  stays in the cluster"
		}
		fmt.Fprintf(out, "  %s%s\n", c.Bad("- "+name), note)
	default:
		fmt.Fprintf(out, "  %s\n", c.Warn("~ "+name))
		for line := range strings.SplitSeq(strings.TrimSuffix(ch.Diff, "\n"), "\n") {
			writeDiffLine(out, c, line)
		}
	}
}

func writeDiffLine(out io.Writer, c paint.Colours, line string) {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return
	case strings.HasPrefix(line, "+"):
		line = c.Good(line)
	case strings.HasPrefix(line, "-"):
		line = c.Bad(line)
	case strings.HasPrefix(line, "@@"):
		line = c.Dim(line)
	}
	fmt.Fprintf(out, "      %s\n", line)
}
