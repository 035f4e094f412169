package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// apply applies definitions first, and waits until they are ready.
func apply(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) error {
	if err := c.refuseUnowned(ctx, objects); err != nil {
		return err
	}
	c.manager.SetOwnerLabels(objects, fieldOwner, "")
	definitions, rest := split(objects)
	if err := c.applyStage(ctx, definitions); err != nil {
		return err
	}
	if err := c.wait(ctx, definitions, c.unready); err != nil {
		return err
	}
	if err := c.setNamespaces(rest); err != nil {
		return err
	}
	if err := c.applyStage(ctx, rest); err != nil {
		return err
	}
	return c.wait(ctx, rest, c.unready)
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
			unowned = append(unowned, fmt.Sprintf("%s (%s)", utils.FmtUnstructured(o), managersOf(live)))
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
		return fmt.Errorf("%w: correct the manifest; if it changes an immutable field, delete the object first", err)
	}
	for _, entry := range changes.Entries {
		c.report(entry.Subject, entry.Action.String(), "")
	}
	return nil
}
