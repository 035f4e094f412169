package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/wI2L/jsondiff"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var errDiffers = errors.New("the cluster differs")

// diff reports what an apply would change, from a dry run on the API server, which includes defaults and admission.
func diff(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) (differs error) {
	c.manager.SetOwnerLabels(objects, fieldOwner, "")
	sort.Sort(ssa.SortableUnstructureds(objects)) // in the order of an apply
	for _, o := range objects {
		entry, live, merged, err := c.manager.Diff(ctx, o, ssa.DiffOptions{})
		switch {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			c.report(utils.FmtUnstructured(o), ssa.CreatedAction.String(),
				"not checked, as its namespace or CRD does not exist yet")
			differs = errDiffers
			continue
		case err != nil:
			return err
		}
		c.report(entry.Subject, entry.Action.String(), "")
		if entry.Action != ssa.UnchangedAction {
			differs = errDiffers
		}
		if entry.Action == ssa.ConfiguredAction {
			if err := c.printFields(live, merged); err != nil {
				return err
			}
		}
	}
	return differs
}

// printFields prints the fields that apply would change.
func (c *cluster) printFields(live, merged *unstructured.Unstructured) error {
	for _, object := range []*unstructured.Unstructured{live, merged} {
		unstructured.RemoveNestedField(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "metadata", "generation")
	}
	patch, err := jsondiff.Compare(live.Object, merged.Object)
	for _, field := range patch {
		from, _ := json.Marshal(field.OldValue)
		to, _ := json.Marshal(field.Value)
		fmt.Fprintf(c.out, "  %s: %.120s -> %.120s\n", field.Path, from, to)
	}
	return err
}
