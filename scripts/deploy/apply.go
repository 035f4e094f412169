package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/ssa"
	ssaerrors "github.com/fluxcd/pkg/ssa/errors"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// applyOptions are the choices of an apply.
type applyOptions struct {
	adopt  bool // take over objects that something else applied
	noWait bool // for everything to get ready
}

// apply brings the objects into the cluster. Definitions go first, because the API server
// refuses an object whose kind or namespace it does not know.
func (o *applyOptions) apply(ctx context.Context, c *cluster, objects []*unstructured.Unstructured,
	r *reporter) error {
	sign(objects)
	if err := c.settle(objects); err != nil {
		return err
	}
	if !o.adopt {
		if err := refuseForeign(ctx, c, objects); err != nil {
			return err
		}
	}
	definitions, rest := split(objects)
	if err := applyStage(ctx, c, definitions, r); err != nil {
		return err
	}
	if err := waitReady(ctx, c, definitions, r); err != nil {
		return err
	}
	if err := waitServed(ctx, c, definitions); err != nil {
		return err
	}
	if err := c.settle(rest); err != nil {
		return err
	}
	if err := applyStage(ctx, c, rest, r); err != nil {
		return err
	}
	if o.noWait {
		return nil
	}
	return waitReady(ctx, c, rest, r)
}

// split parts what others need to exist (CRDs, Namespaces, ClusterRoles) from the rest.
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

// refuseForeign stops before the first write when an object is there that this program did
// not apply: server-side apply would force its fields, and a later delete would take it along.
func refuseForeign(ctx context.Context, c *cluster, objects []*unstructured.Unstructured) error {
	var foreign []string
	for _, o := range objects {
		live, err := c.find(ctx, o)
		if err != nil {
			return err
		}
		if live != nil && !isOurs(live) {
			foreign = append(foreign, fmt.Sprintf("%s (set by %s)", nameOf(o), managersOf(live)))
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was written, because this is there and was not applied by this program:\n  %s\n"+
		"deploy elsewhere, remove it, or take it over by --adopt (delete will then remove it, too)",
		strings.Join(foreign, "\n  "))
}

// applyStage tries the whole stage dry first; only what differs from the cluster is written.
func applyStage(ctx context.Context, c *cluster, objects []*unstructured.Unstructured, r *reporter) error {
	changes, err := c.manager.ApplyAll(ctx, objects, ssa.ApplyOptions{})
	if err != nil {
		return explain(err)
	}
	for _, entry := range changes.Entries {
		r.add(verdict{Object: nameOfID(entry.ObjMetadata), Action: entry.Action.String()})
	}
	return nil
}

// explain adds the next step to an error that already names the object.
func explain(err error) error {
	var dryRun *ssaerrors.DryRunErr
	switch {
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%w: apply the definition of that kind first (make install)", err)
	case errors.As(err, &dryRun) && ssaerrors.IsImmutableError(dryRun.Unwrap()):
		return fmt.Errorf("%w: correct the manifest; if it changes a field that is fixed once the "+
			"object is there, delete the object and apply again", err)
	default:
		return err
	}
}

// waitServed waits until discovery lists the kinds of the given CRDs: it trails their
// condition Established by a moment in which their objects would be refused.
func waitServed(ctx context.Context, c *cluster, definitions []*unstructured.Unstructured) error {
	for _, crd := range definitions {
		if !utils.IsCRD(crd) {
			continue
		}
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		for !served(c, schema.GroupKind{Group: group, Kind: kind}) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s is established, but its kind %s is not served: %w", nameOf(crd), kind, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

func served(c *cluster, kind schema.GroupKind) bool {
	_, err := c.client.RESTMapper().RESTMapping(kind)
	return err == nil
}
