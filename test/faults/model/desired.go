package model

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// desired knows what the operator applied last.
type desired struct {
	*past

	last map[ref]lastApply
}

// lastApply is a managed object as it was after the operator had applied it, and what the operator sent; nil if that is
// not known.
type lastApply struct{ after, body *object }

func (d *desired) check(e history.Entry) string {
	d.note(e)
	if e.Step != history.PhaseAtRest && e.Step != history.PhaseReady {
		return ""
	}
	for _, o := range d.memcacheds() {
		mc := d.memcached(o)
		if mc.Spec.Suspend || mc.DeletionTimestamp != nil || !isTrue(mc, cachev1.ConditionReady) || !d.isQuiet(mc, e) {
			continue
		}
		for _, kind := range slices.Sorted(maps.Keys(managed)) {
			if wrong := d.wrong(kind, mc); wrong != "" {
				return fmt.Sprintf("%s is Ready, and %s", mc.Name, wrong)
			}
		}
	}
	return ""
}

// note follows what the operator applies.
func (d *desired) note(e history.Entry) {
	if e.State == nil || e.State.Type == watch.Deleted {
		return
	}
	o, at := e.State.Object, refOf(e.State.Object)
	if e.State.By == nil {
		d.noteUnknown(o, at)
		return
	}
	_, by := d.writes(e)
	if by == nil || fieldManagerOf(by) != fieldManager {
		return
	}
	body := bodyOf(by)
	if value(body, "spec") == nil { // It only removes fields, or takes over those of an earlier operator.
		body = d.last[at].body
	}
	d.last[at] = lastApply{o, body}
}

// noteUnknown notes a state whose request the audit log lacks. It was the operator's if the hash is another one.
func (d *desired) noteUnknown(o *object, at ref) {
	after := d.last[at].after
	if after != nil && after.GetAnnotations()[appliedHash] != o.GetAnnotations()[appliedHash] {
		after = o
	}
	d.last[at] = lastApply{after: after}
}

// wrong returns what is wrong with an object of a cache.
func (d *desired) wrong(kind string, mc *cachev1.Memcached) string {
	o := d.current[ref{kind, mc.Name}]
	isOwned := o != nil && controllerOf(o).UID == mc.UID
	switch {
	case !asksFor(mc, kind) && isOwned:
		return fmt.Sprintf("has a %s that the spec does not ask for", kind)
	case !asksFor(mc, kind):
		return ""
	case o == nil:
		return fmt.Sprintf("there is no %s", kind)
	case !isOwned:
		return fmt.Sprintf("its %s belongs to %s", kind, owners(o))
	}
	if isPaused(o) {
		return fmt.Sprintf("its %s is still paused", kind)
	}
	return d.drifted(kind, mc)
}

// drifted returns how an object differs from what the operator applied, or that from what the spec asks for.
func (d *desired) drifted(kind string, mc *cachev1.Memcached) string {
	o, last := d.current[ref{kind, mc.Name}], d.last[ref{kind, mc.Name}]
	if last.after == nil || last.after.GetUID() != o.GetUID() {
		return ""
	}
	own := ownFields(last.after).Leaves()
	if found := differences("", valuesOf(last.after, own), valuesOf(o, own)); len(found) > 0 {
		return fmt.Sprintf("its %s is not as it was applied: %s", kind, found[0])
	}
	if last.body == nil || mc.Status.ObservedGeneration != mc.Generation {
		return ""
	}
	if found := mismatch(last.body, mc); found != "" {
		return fmt.Sprintf("its %s is not as the spec asks for: %s", kind, found)
	}
	return ""
}
