package main

import (
	"context"
	"errors"
	"sort"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errDiffers makes the program exit with 1 without an error message, as kubectl diff does.
var errDiffers = errors.New("the cluster differs")

// diff tells what an apply would do, from a dry run on the API server: defaults, conversions
// and admission are accounted for.
func diff(ctx context.Context, c *cluster, objects []*unstructured.Unstructured, r *reporter) error {
	sign(objects)
	if err := c.settle(objects); err != nil {
		return err
	}
	sort.Sort(ssa.SortableUnstructureds(objects)) // in the order of an apply
	differs := false
	for _, o := range objects {
		v, err := diffOne(ctx, c, objects, o)
		if err != nil {
			return err
		}
		r.add(v)
		differs = differs || v.Action != ssa.UnchangedAction.String()
	}
	if differs {
		return errDiffers
	}
	return nil
}

func diffOne(ctx context.Context, c *cluster, objects []*unstructured.Unstructured,
	o *unstructured.Unstructured) (verdict, error) {
	entry, live, wanted, err := c.manager.Diff(ctx, o, ssa.DiffOptions{})
	switch {
	case err != nil && comesFirst(objects, o, err):
		return verdict{Object: nameOf(o), Action: ssa.CreatedAction.String()}, nil
	case err != nil:
		return verdict{}, explain(err)
	}
	v := verdict{Object: nameOf(o), Action: entry.Action.String()}
	if entry.Action == ssa.ConfiguredAction {
		v.Fields = changedFields(live, wanted)
	}
	return v, nil
}

// comesFirst tells whether the dry run failed only because the object's namespace or kind
// would be made by the same apply.
func comesFirst(objects []*unstructured.Unstructured, o *unstructured.Unstructured, err error) bool {
	for _, other := range objects {
		switch {
		case apierrors.IsNotFound(err) && utils.IsNamespace(other) && other.GetName() == o.GetNamespace():
			return true
		case meta.IsNoMatchError(err) && utils.IsCRD(other) && defines(other, o):
			return true
		}
	}
	return false
}

func defines(crd, o *unstructured.Unstructured) bool {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	gvk := o.GroupVersionKind()
	return group == gvk.Group && kind == gvk.Kind
}
