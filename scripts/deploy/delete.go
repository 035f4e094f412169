package main

import (
	"context"
	"fmt"
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

// remove deletes objects in the reverse order of apply: definitions last.
func remove(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) error {
	if err := c.refuseCascade(ctx, objects); err != nil {
		return err
	}
	definitions, rest := split(objects)
	if err := c.removeStage(ctx, rest); err != nil {
		return err
	}
	return c.removeStage(ctx, definitions)
}

// refuseCascade fails before the first deletion if a CRD has custom resources that are not part of the build: deleting
// the CRD would delete a user's caches.
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
		if err != nil && !meta.IsNoMatchError(err) { // It may never have been established.
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

// removeStage requests all deletions before it waits for any, so that finalizers run at the same time.
func (c *cluster) removeStage(ctx context.Context, objects []*unstructured.Unstructured) error {
	sort.Sort(sort.Reverse(ssa.SortableUnstructureds(objects)))
	var deleting []*unstructured.Unstructured
	for _, o := range objects {
		live, err := c.find(ctx, o)
		switch {
		case err != nil:
			return err
		case live == nil:
			c.report(utils.FmtUnstructured(o), "absent", "")
		case !owned(live):
			c.report(utils.FmtUnstructured(o), "kept", "another client applied it ("+managersOf(live)+")")
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
		c.report(utils.FmtUnstructured(o), "deleted", "")
	}
	return nil
}
