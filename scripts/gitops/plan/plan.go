// Package plan shows a tree as Argo CD would apply it, and the difference between two trees.
package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// Plan is a tree without faults.
type Plan struct {
	*tree.Tree
	checkedBy map[schema.GroupVersionKind]string
}

// New plans an install method.
func New(ctx context.Context, b *tree.Builder, method string) (Plan, error) {
	t, err := b.Build(method)
	if err != nil {
		return Plan{}, err
	}
	var errs []error
	for _, f := range t.Faults {
		errs = append(errs, fmt.Errorf("%s: %s: %s", strings.Trim(f.File+", "+f.Application, ", "), f.Text, f.Fix))
	}
	for _, address := range slices.Sorted(maps.Keys(b.Failed)) {
		errs = append(errs, fmt.Errorf("%s: %w", address, b.Failed[address]))
	}
	argoCD, err := b.ArgoCD(ctx)
	if err := errors.Join(append(errs, err)...); err != nil {
		return Plan{}, err
	}
	p := Plan{Tree: t, checkedBy: map[schema.GroupVersionKind]string{}}
	for _, part := range p.parts() {
		for _, o := range part.objects {
			if p.checkedBy[o.GroupVersionKind()], err = argoCD.CheckedBy(o.GroupVersionKind()); err != nil {
				return Plan{}, err
			}
		}
	}
	return p, nil
}

// part is an Application, or the folder that the user applies, which has no name.
type part struct {
	name, heading string
	objects       []tree.Object
}

// parts are those of the tree, in the order in which they are applied. A Plan without a tree has none.
func (p Plan) parts() []part {
	if p.Tree == nil {
		return nil
	}
	heading := fmt.Sprintf("%s  kubectl apply --server-side -k %s", bold("by hand"), p.Bootstrap)
	parts := []part{{"", heading, p.ByHand}}
	for i, app := range p.All() {
		when := fmt.Sprintf("wave %d", app.Wave)
		if i == 0 {
			when = "root"
		}
		heading := fmt.Sprintf("%s  %s  %s", bold(when), bold(app.Name), dim(fmt.Sprintf("path %s, project %s, namespace %s",
			app.Spec.GetSource().Path, app.Spec.Project, app.Spec.Destination.Namespace)))
		parts = append(parts, part{app.Name, heading, app.Objects})
	}
	return parts
}

var bold, dim = color.New(color.Bold).SprintFunc(), color.New(color.Faint).SprintFunc()

// Text writes a plan for a terminal.
func (p Plan) Text(out io.Writer, options []string) {
	title := p.Method + " on " + p.Settings["architecture"]
	if len(options) > 0 {
		title += " with " + strings.Join(options, ", ")
	}
	fmt.Fprintf(out, "%s  %s at %s\n", bold(title), p.Settings["repoURL"], p.Settings["revision"])
	if needs := p.Needs(); len(needs) > 0 {
		fmt.Fprintf(out, "The cluster must have: %s\n", strings.Join(needs, ", "))
	}
	for _, part := range p.parts() {
		fmt.Fprintf(out, "\n%s\n", part.heading)
		p.table(out, part.objects)
	}
	fmt.Fprintln(out, "\nHealth: checked by this tree or by Argo CD. With none, an object is healthy once it is applied.")
}

// table writes an object a line: wave, kind, name, who checks its health, why it is kept; then releases and images.
func (p Plan) table(out io.Writer, objects []tree.Object) {
	kinds, names := 0, 0
	for _, o := range objects {
		kinds, names = max(kinds, len(o.GetKind())), max(names, len(o.Path()))
	}
	var images []string
	for _, o := range objects {
		checkedBy := p.checkedBy[o.GroupVersionKind()]
		health, keep := color.GreenString("%-7s", checkedBy), ""
		if checkedBy == tree.ByNone {
			health = dim(fmt.Sprintf("%-7s", checkedBy))
		}
		if len(o.Keep()) > 0 {
			keep = color.YellowString("kept on %s", strings.Join(o.Keep(), " and "))
		}
		kind := color.CyanString("%-*s", kinds, o.GetKind())
		line := fmt.Sprintf("  %3d  %s  %-*s  %s  %s", o.Wave, kind, names, o.Path(), health, keep)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
		images = append(images, o.Images...)
	}
	for _, source := range sources(objects) {
		fmt.Fprintf(out, "  %s %s\n", dim("from "), source)
	}
	for _, image := range sorted(images) {
		fmt.Fprintf(out, "  %s %s\n", dim("image"), image)
	}
}

// sources are the releases that the objects are from.
func sources(objects []tree.Object) (found []string) {
	for _, o := range objects {
		if o.Source != "" {
			found = append(found, o.Source)
		}
	}
	return sorted(found)
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
