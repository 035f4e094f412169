package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// plan is the tree of an install method. The tree has no faults.
type plan struct {
	*tree.Tree
	argoCD tree.ArgoCD
}

// newPlan returns the plan of an install method.
func newPlan(ctx context.Context, b *tree.Builder, method string) (p plan, err error) {
	if p.Tree, err = b.Build(method); err != nil {
		return plan{}, err
	}
	var errs []error
	for _, fault := range p.Faults {
		errs = append(errs, fault)
	}
	for _, remote := range b.Remotes {
		if remote.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", remote.URL, remote.Err))
		}
	}
	p.argoCD, err = b.ArgoCD(ctx)
	return p, errors.Join(append(errs, err)...)
}

// parts returns the objects that the user applies by hand and the Applications, in the order in which they are applied.
// It returns nothing for a plan without a tree.
func (p plan) parts() []*tree.App {
	if p.Tree == nil {
		return nil
	}
	return append([]*tree.App{&p.ByHand}, p.All()...)
}

func (p plan) heading(part *tree.App) string {
	when := fmt.Sprintf("wave %d", part.Manifest.Wave)
	switch part {
	case &p.ByHand:
		flag := "-k"
		if strings.HasSuffix(p.Bootstrap, ".yaml") {
			flag = "-f"
		}
		return fmt.Sprintf("%s  kubectl apply --server-side %s %s", bold("by hand"), flag, p.Bootstrap)
	case p.Root:
		when = "root"
	}
	source := part.Spec.GetSource()
	path := source.Path
	if source.Kustomize != nil {
		path += " with " + strings.Join(source.Kustomize.Components, ", ")
	}
	return fmt.Sprintf("%s  %s  %s", bold(when), bold(part.Name), dim(fmt.Sprintf("path %s, project %s, namespace %s",
		path, part.Spec.Project, part.Spec.Destination.Namespace)))
}

var bold, dim = color.New(color.Bold).SprintFunc(), color.New(color.Faint).SprintFunc()

// text writes a plan for a terminal.
func (p plan) text(out io.Writer, options []string) {
	title := p.Method + " on " + p.Settings["architecture"]
	if len(options) > 0 {
		title += " with " + strings.Join(options, ", ")
	}
	fmt.Fprintf(out, "%s  %s at %s\n", bold(title), p.Settings["repoURL"], p.Settings["revision"])
	if needs := p.Needs(); len(needs) > 0 {
		fmt.Fprintf(out, "The cluster must have: %s\n", strings.Join(needs, ", "))
	}
	for _, part := range p.parts() {
		fmt.Fprintf(out, "\n%s\n", p.heading(part))
		p.table(out, part.Objects)
	}
	fmt.Fprintln(out, "\nHealth: by a check of this tree, by one of Argo CD, or by none. Without a check, an object "+
		"is healthy once it is applied.")
}

// table prints each object on a line: its wave, kind and name, whose check determines its health, and which deletions
// it survives. Then it prints the releases and images.
func (p plan) table(out io.Writer, objects []tree.Object) {
	kinds, names := 0, 0
	for _, o := range objects {
		kinds, names = max(kinds, len(o.GetKind())), max(names, len(o.Path()))
	}
	images := sets.New[string]()
	for _, o := range objects {
		checkedBy := p.argoCD.CheckedBy(o.GroupVersionKind())
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
		images.Insert(o.Images...)
	}
	for _, source := range sets.List(sources(objects)) {
		fmt.Fprintf(out, "  %s %s\n", dim("from "), source)
	}
	for _, image := range sets.List(images) {
		fmt.Fprintf(out, "  %s %s\n", dim("image"), image)
	}
}

// sources returns the URLs of the releases that have the objects.
func sources(objects []tree.Object) sets.Set[string] {
	found := sets.New[string]()
	for _, o := range objects {
		found.Insert(o.Source)
	}
	return found.Delete("")
}
