package main

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stages returns the objects in two stages: first the CRDs, Namespaces and ClusterRoles, then the rest, because the API
// server refuses an object whose kind or namespace it does not know.
func stages(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	isOther := func(o *unstructured.Unstructured) bool { return !utils.IsClusterDefinition(o) }
	return [][]*unstructured.Unstructured{
		slices.DeleteFunc(slices.Clone(objects), isOther),
		slices.DeleteFunc(slices.Clone(objects), utils.IsClusterDefinition),
	}
}

// apply writes the objects that differ from the objects in the cluster, and waits until they are ready. It writes a
// stage only if a dry run of all objects of the stage succeeds.
func (c *cluster) apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	if err := c.refuseUnowned(ctx, objects); err != nil {
		return err
	}
	c.manager.SetOwnerLabels(objects, fieldOwner, "")
	for _, stage := range stages(objects) {
		if err := c.setNamespaces(stage); err != nil {
			return err
		}
		changes, err := c.manager.ApplyAll(ctx, stage, ssa.ApplyOptions{})
		if err != nil {
			return fmt.Errorf("%w: correct the manifest. If the change is to an immutable field, delete the object first", err)
		}
		for _, entry := range changes.Entries {
			fmt.Fprintln(c.out, entry.Subject, entry.Action)
		}
		if err := c.wait(ctx, stage, c.unready); err != nil {
			return err
		}
	}
	return nil
}

// refuseUnowned fails before the first write if an object exists that another client applied. Applying this object
// would overwrite the fields of that client, and a later delete would delete the object.
func (c *cluster) refuseUnowned(ctx context.Context, objects []*unstructured.Unstructured) error {
	var unowned []string
	for _, o := range objects {
		live, err := c.find(ctx, o)
		if err != nil {
			return err
		}
		if live != nil && !owned(live) && !c.adopt {
			unowned = append(unowned, fmt.Sprintf("%s (%s)", utils.FmtUnstructured(o), managersOf(live)))
		}
	}
	if len(unowned) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was written, because another client applied these objects:\n  %s\n"+
		"apply to another namespace or cluster, delete them, or take them over by --adopt (a later delete then deletes "+
		"them, too)", strings.Join(unowned, "\n  "))
}

// remove deletes objects in the reverse order of apply: it deletes CRDs last.
func (c *cluster) remove(ctx context.Context, objects []*unstructured.Unstructured) error {
	if err := c.refuseCascade(ctx, objects); err != nil {
		return err
	}
	for _, stage := range slices.Backward(stages(objects)) {
		if err := c.removeStage(ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

// refuseCascade fails before the first deletion if a CRD has custom resources that are not part of the build, because
// deleting the CRD would delete a user's caches.
func (c *cluster) refuseCascade(ctx context.Context, objects []*unstructured.Unstructured) error {
	others, built := sets.New[string](), sets.New[string]()
	for _, o := range objects {
		built.Insert(utils.FmtUnstructured(o))
		live, err := c.find(ctx, o)
		if err != nil {
			return err
		}
		if c.cascade || live == nil || !utils.IsCRD(live) || !owned(live) {
			continue
		}
		resources := &unstructured.UnstructuredList{}
		mapping, err := c.Client.RESTMapper().RESTMapping(kindOf(live))
		if err == nil {
			resources.SetGroupVersionKind(mapping.GroupVersionKind)
			err = c.Client.List(ctx, resources, client.Limit(50))
		}
		if err != nil && !meta.IsNoMatchError(err) { // The CRD may never have become established.
			return fmt.Errorf("%s: cannot list its objects: %w", utils.FmtUnstructured(o), err)
		}
		for i := range resources.Items {
			others.Insert(utils.FmtUnstructured(&resources.Items[i]))
		}
	}
	if others = others.Difference(built); len(others) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was deleted, because deleting their CRD would delete these objects:\n  %s\n"+
		"delete them first, or set --cascade", strings.Join(sets.List(others), "\n  "))
}

// removeStage requests all deletions before it waits for the first, so that finalizers run at the same time.
func (c *cluster) removeStage(ctx context.Context, objects []*unstructured.Unstructured) error {
	sort.Sort(sort.Reverse(ssa.SortableUnstructureds(objects)))
	var deleting []*unstructured.Unstructured
	for _, o := range objects {
		live, err := c.find(ctx, o)
		switch {
		case err != nil:
			return err
		case live == nil:
			fmt.Fprintln(c.out, utils.FmtUnstructured(o), "absent")
		case !owned(live):
			fmt.Fprintf(c.out, "%s kept: another client applied it (%s)\n", utils.FmtUnstructured(o), managersOf(live))
		default:
			deleting = append(deleting, o)
			err := c.Client.Delete(ctx, live, client.PropagationPolicy(metav1.DeletePropagationBackground))
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("%s: %w", utils.FmtUnstructured(o), err)
			}
		}
	}
	if err := c.wait(ctx, deleting, c.remaining); err != nil {
		return err
	}
	for _, o := range deleting {
		fmt.Fprintln(c.out, utils.FmtUnstructured(o), "deleted")
	}
	return nil
}
