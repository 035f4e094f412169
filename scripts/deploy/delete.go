package main

import (
	"cmp"
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/fluxcd/pkg/ssa"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deleteOptions are the choices of a delete.
type deleteOptions struct {
	cascade bool // let custom resources go with their definition
	noWait  bool // for everything to be gone
}

// remove deletes what apply brought, last applied first: definitions go only when everything
// that may need them is gone.
func (o *deleteOptions) remove(ctx context.Context, c *cluster, objects []*unstructured.Unstructured,
	r *reporter) error {
	if err := c.settle(objects); err != nil {
		return err
	}
	if !o.cascade {
		if err := refuseCascade(ctx, c, objects); err != nil {
			return err
		}
	}
	definitions, rest := split(objects)
	for _, stage := range [][]*unstructured.Unstructured{rest, definitions} {
		sort.Sort(sort.Reverse(ssa.SortableUnstructureds(stage)))
		if err := removeStage(ctx, c, stage, !o.noWait, r); err != nil {
			return err
		}
	}
	return nil
}

// removeStage asks for all deletions before it waits for any, so that finalizers work side by side.
func removeStage(ctx context.Context, c *cluster, objects []*unstructured.Unstructured, wait bool, r *reporter) error {
	var leaving []*unstructured.Unstructured
	for _, o := range objects {
		gone, err := removeOne(ctx, c, o, r)
		if err != nil {
			return err
		}
		if !gone {
			leaving = append(leaving, o)
		}
	}
	for _, o := range leaving {
		action := "deleted"
		if !wait {
			action = "deleting"
		} else if err := waitGone(ctx, c, o); err != nil {
			return err
		}
		r.add(verdict{Object: nameOf(o), Action: action})
	}
	return nil
}

// removeOne starts a deletion, or reports why there is none to start.
func removeOne(ctx context.Context, c *cluster, o *unstructured.Unstructured, r *reporter) (done bool, err error) {
	live, err := c.find(ctx, o)
	switch {
	case err != nil:
		return false, err
	case live == nil:
		r.add(verdict{Object: nameOf(o), Action: "absent"})
		return true, nil
	case !isOurs(live):
		message := "not applied by this program but by " + managersOf(live)
		r.add(verdict{Object: nameOf(o), Action: "kept", Message: message})
		return true, nil
	}
	// The uid makes sure that it is this very object that goes, and not a successor of its name.
	uid := live.GetUID()
	err = c.client.Delete(ctx, live, client.Preconditions{UID: &uid},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("%s cannot be deleted: %w", nameOf(o), err)
	}
	return false, nil
}

func waitGone(ctx context.Context, c *cluster, o *unstructured.Unstructured) error {
	var live *unstructured.Unstructured
	for {
		found, err := c.find(ctx, o)
		switch {
		case ctx.Err() != nil:
			return stillThere(o, live)
		case err != nil:
			return err
		case found == nil:
			return nil
		}
		live = found
		select {
		case <-ctx.Done():
			return stillThere(o, live)
		case <-time.After(pollInterval / 4):
		}
	}
}

// stillThere says what keeps an object from going: its finalizers, and what a Namespace
// reports about its content.
func stillThere(o, live *unstructured.Unstructured) error {
	var reasons []string
	if live != nil {
		ofNamespace, _, _ := unstructured.NestedStringSlice(live.Object, "spec", "finalizers")
		for _, finalizer := range append(live.GetFinalizers(), ofNamespace...) {
			reasons = append(reasons, "finalizer "+finalizer)
		}
		reasons = append(reasons, contentOf(live)...)
	}
	return fmt.Errorf("%s is being deleted, but is still there; it waits for: %s (--timeout gives it more time)",
		nameOf(o), cmp.Or(strings.Join(reasons, ", "), "the API server"))
}

func contentOf(namespace *unstructured.Unstructured) []string {
	var messages []string
	conditions, _, _ := unstructured.NestedSlice(namespace.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if message, _ := condition["message"].(string); condition["status"] == "True" && message != "" {
			messages = append(messages, message)
		}
	}
	return messages
}
