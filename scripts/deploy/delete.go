package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
		resources, err := c.resourcesOf(ctx, live)
		if err != nil {
			return fmt.Errorf("%s: cannot list its objects: %w", utils.FmtUnstructured(o), err)
		}
		for i := range resources {
			others.Insert(utils.FmtUnstructured(&resources[i]))
		}
	}
	if others = others.Difference(built); len(others) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was deleted, because deleting their CRD would delete these objects:\n  %s\n"+
		"delete them first, or set --cascade", strings.Join(sets.List(others), "\n  "))
}

func (c *cluster) resourcesOf(ctx context.Context, crd *unstructured.Unstructured) (
	[]unstructured.Unstructured, error) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	mapping, err := c.client.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: kind})
	if meta.IsNoMatchError(err) {
		return nil, nil // the CRD was never established
	}
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind)
	err = c.client.List(ctx, list, client.Limit(50))
	return list.Items, err
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
			c.report(utils.FmtUnstructured(o), "kept",
				"another client applied it (field manager: "+managersOf(live)+")")
		default:
			deleting = append(deleting, o)
		}
	}
	if _, err := c.manager.DeleteAll(ctx, deleting, ssa.DefaultDeleteOptions()); err != nil {
		return err
	}
	action := "deleting"
	if !c.noWait {
		action = "deleted"
		if err := c.waitFor(ctx, status.NotFoundStatus, deleting); err != nil {
			return err
		}
	}
	for _, o := range deleting {
		c.report(utils.FmtUnstructured(o), action, "")
	}
	return nil
}
