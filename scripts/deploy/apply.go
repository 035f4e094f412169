package main

import (
	"context"
	"errors"
	"fmt"
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
	c.sign(objects)
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
	for _, o := range objects {
		if utils.IsClusterDefinition(o) {
			definitions = append(definitions, o)
		} else {
			rest = append(rest, o)
		}
	}
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
		c.add(result{Object: entry.Subject, Action: entry.Action.String()})
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
	c.sign(objects)
	sort.Sort(ssa.SortableUnstructureds(objects)) // in the order of an apply
	var differs error
	for _, o := range objects {
		found, err := c.diffOne(ctx, o)
		if err != nil {
			return err
		}
		c.add(found)
		if found.Action != ssa.UnchangedAction.String() {
			differs = errDiffers
		}
	}
	return differs
}

func (c *cluster) diffOne(ctx context.Context, o *unstructured.Unstructured) (result, error) {
	entry, live, merged, err := c.manager.Diff(ctx, o, ssa.DiffOptions{})
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return result{
			Object: utils.FmtUnstructured(o), Action: ssa.CreatedAction.String(),
			Message: "not checked, as its namespace or CRD does not exist yet",
		}, nil
	case err != nil:
		return result{}, explain(err)
	case entry.Action != ssa.ConfiguredAction:
		return result{Object: entry.Subject, Action: entry.Action.String()}, nil
	}
	for _, object := range []*unstructured.Unstructured{live, merged} {
		unstructured.RemoveNestedField(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "metadata", "generation")
	}
	patch, err := jsondiff.Compare(live.Object, merged.Object)
	found := result{Object: entry.Subject, Action: entry.Action.String()}
	for _, operation := range patch {
		found.Fields = append(found.Fields, fieldChange{operation.Path, operation.OldValue, operation.Value})
	}
	return found, err
}
