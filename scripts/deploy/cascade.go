package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/ssa/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refuseCascade stops before the first deletion when a CRD would take custom resources with it
// that are not part of the build: those are somebody's caches, not this program's.
func refuseCascade(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) error {
	ours := map[string]bool{}
	for _, o := range objects {
		ours[nameOf(o)] = true
	}
	var others []string
	for _, o := range objects {
		found, err := resourcesOf(ctx, c, o)
		if err != nil {
			return err
		}
		for _, name := range found {
			if !ours[name] {
				others = append(others, name)
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was deleted, because these would go with their definition:\n  %s\n"+
		"delete them first, or let them go by --cascade", strings.Join(others, "\n  "))
}

// resourcesOf lists the custom resources of a CRD that is in the cluster and ours to delete.
func resourcesOf(ctx context.Context, c *cluster, crd *unstructured.Unstructured) ([]string, error) {
	if !utils.IsCRD(crd) {
		return nil, nil
	}
	live, err := c.find(ctx, crd)
	if err != nil || live == nil || !isOurs(live) {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(servedKind(live))
	err = c.client.List(ctx, list, client.Limit(50))
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil // never established: nobody can have made one
	case err != nil:
		return nil, fmt.Errorf("%s: its objects cannot be listed: %w", nameOf(crd), err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, nameOf(&list.Items[i]))
	}
	return names, nil
}

// servedKind is the kind a CRD defines, in the first version that the API server serves.
func servedKind(crd *unstructured.Unstructured) schema.GroupVersionKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if version, _ := v.(map[string]any); version["served"] == true {
			name, _ := version["name"].(string)
			return schema.GroupVersionKind{Group: group, Version: name, Kind: kind}
		}
	}
	return schema.GroupVersionKind{Group: group, Kind: kind}
}
