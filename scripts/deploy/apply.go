package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/ssa"
	ssaerrors "github.com/fluxcd/pkg/ssa/errors"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/wI2L/jsondiff"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// apply applies definitions first: the API server refuses an object whose kind or namespace it does not know.
func apply(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) error {
	if err := c.refuseUnowned(ctx, objects); err != nil {
		return err
	}
	c.manager.SetOwnerLabels(objects, fieldOwner, "")
	definitions, rest := split(objects)
	if err := c.applyStage(ctx, definitions); err != nil {
		return err
	}
	if err := c.waitFor(ctx, status.CurrentStatus, definitions); err != nil {
		return err
	}
	if err := c.waitServed(ctx, rest); err != nil {
		return err
	}
	if err := c.applyStage(ctx, rest); err != nil || c.noWait {
		return err
	}
	return c.waitFor(ctx, status.CurrentStatus, rest)
}

// split separates CRDs, Namespaces and ClusterRoles from the rest.
func split(objects []*unstructured.Unstructured) (definitions, rest []*unstructured.Unstructured) {
	rest = slices.DeleteFunc(slices.Clone(objects), utils.IsClusterDefinition)
	definitions = slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
		return !utils.IsClusterDefinition(o)
	})
	return definitions, rest
}

// refuseUnowned fails before the first write if an object exists that another client applied: this apply would
// overwrite its fields, and a later delete would delete it.
func (c *cluster) refuseUnowned(ctx context.Context, objects []*unstructured.Unstructured) error {
	var unowned []string
	for _, o := range objects {
		live, err := c.find(ctx, o)
		if err != nil {
			return err
		}
		if live != nil && !owned(live) && !c.adopt {
			unowned = append(unowned, fmt.Sprintf("%s (field manager: %s)", utils.FmtUnstructured(o), managersOf(live)))
		}
	}
	if len(unowned) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was written, because another client applied these objects:\n  %s\n"+
		"apply to another namespace or cluster, delete them, or take them over by --adopt "+
		"(delete then deletes them, too)", strings.Join(unowned, "\n  "))
}

// applyStage writes the objects that differ from the cluster, if a dry run of all of them succeeds.
func (c *cluster) applyStage(ctx context.Context, objects []*unstructured.Unstructured) error {
	changes, err := c.manager.ApplyAll(ctx, objects, ssa.ApplyOptions{})
	if err != nil {
		return explain(err)
	}
	for _, entry := range changes.Entries {
		c.report(entry.Subject, entry.Action.String(), "")
	}
	return nil
}

// explain adds the next step to an error that already names the object.
func explain(err error) error {
	var dryRun *ssaerrors.DryRunErr
	if errors.As(err, &dryRun) && ssaerrors.IsImmutableError(dryRun.Unwrap()) {
		return fmt.Errorf("%w: correct the manifest; if it changes an immutable field, delete the object "+
			"and apply again", err)
	}
	return err
}

// errDiffers selects the exit code of a difference.
var errDiffers = errors.New("the cluster differs")

// diff reports what an apply would change, from a dry run on the API server, which includes defaults and admission.
func diff(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) error {
	c.manager.SetOwnerLabels(objects, fieldOwner, "")
	sort.Sort(ssa.SortableUnstructureds(objects)) // in the order of an apply
	var differs error
	for _, o := range objects {
		unchanged, err := c.diffOne(ctx, o)
		if err != nil {
			return err
		}
		if !unchanged {
			differs = errDiffers
		}
	}
	return differs
}

func (c *cluster) diffOne(ctx context.Context, o *unstructured.Unstructured) (unchanged bool, err error) {
	entry, live, merged, err := c.manager.Diff(ctx, o, ssa.DiffOptions{})
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		c.report(utils.FmtUnstructured(o), ssa.CreatedAction.String(),
			"not checked, as its namespace or CRD does not exist yet")
		return false, nil
	case err != nil:
		return false, explain(err)
	}
	c.report(entry.Subject, entry.Action.String(), "")
	if entry.Action != ssa.ConfiguredAction {
		return entry.Action == ssa.UnchangedAction, nil
	}
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
	return false, err
}
