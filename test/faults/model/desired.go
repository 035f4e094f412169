package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// desired has, for each managed object, what the operator applied last.
type desired struct {
	*past

	last map[ref]lastApply
}

// lastApply has a managed object as it was after the operator had applied it, and the body that the operator sent.
// after or body is nil if it is not known.
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
		for at, asked := range d.expected(mc) {
			if wrong := d.wrong(at, mc, asked); wrong != "" {
				return fmt.Sprintf("%s is Ready, and %s", mc.Name, wrong)
			}
		}
	}
	return ""
}

// note records the objects that the operator applies.
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
	if by == nil || by.FieldManager() != fieldManager {
		return
	}
	body := bodyOf(by)
	if value(body, "spec") == nil { // It only removes fields, or takes over fields of an earlier version.
		body = d.last[at].body
	}
	d.last[at] = lastApply{o, body}
}

// noteUnknown records a state whose request the audit log does not have. If the hash in the operator's annotation
// changed, the operator wrote the state.
func (d *desired) noteUnknown(o *object, at ref) {
	after := d.last[at].after
	if after != nil && after.GetAnnotations()[appliedHash] != o.GetAnnotations()[appliedHash] {
		after = o
	}
	d.last[at] = lastApply{after: after}
}

// expected returns the objects that a cache may have, and whether its spec requests them.
func (d *desired) expected(mc *cachev1.Memcached) map[ref]bool {
	expected := map[ref]bool{}
	for kind := range managed {
		if kind != "EndpointSlice" {
			expected[ref{kind, mc.Name}] = requests(mc, kind)
		}
	}
	hasSlots := isGated(d.current[ref{"Deployment", mc.Name}])
	for _, o := range d.managedOf(mc.Name) {
		if of, ok := slotOf(refOf(o)); ok {
			expected[refOf(o)] = (hasSlots || of.isDiscovery()) && of.isWanted(mc)
		}
	}
	if movesIn(mc) && hasSlots && sizeOf(mc) > 0 {
		expected[ref{"Deployment", mc.Name + "-bootstrap"}] = true
	}
	if mc.Spec.Discovery != nil {
		expected[ref{"Service", mc.Name + "-discovery"}] = true
	}
	if hasSlots {
		expected[ref{"Service", mc.Name + "-slots"}] = true
		expected[ref{"EndpointSlice", mc.Name + "-slots-ipv4"}] = sizeOf(mc) > 0
	}
	return expected
}

// wrong returns what is wrong with an object of a cache.
func (d *desired) wrong(at ref, mc *cachev1.Memcached, asked bool) string {
	o, kind := d.current[at], at.kind
	isOwned := o != nil && controllerOf(o).UID == mc.UID
	switch {
	case !asked && isOwned && o.GetLabels()["memcached_cr"] != "":
		// Without this label, the informer cache of the operator does not have the object.
		return fmt.Sprintf("has a %s %s that the spec does not request", kind, at.name)
	case !asked:
		return ""
	case o == nil:
		return fmt.Sprintf("there is no %s %s", kind, at.name)
	case !isOwned:
		return fmt.Sprintf("its %s belongs to %s", kind, owners(o))
	}
	if isPaused(o) {
		return fmt.Sprintf("its %s is still paused", kind)
	}
	return d.drifted(at, mc)
}

// drifted returns how an object differs from what the operator applied, or how the applied object differs from what the
// spec requests.
func (d *desired) drifted(at ref, mc *cachev1.Memcached) string {
	o, last, kind := d.current[at], d.last[at], at.kind
	if last.after == nil || last.after.GetUID() != o.GetUID() {
		return ""
	}
	own := ownFields(last.after).Leaves()
	if found := differences("", valuesOf(last.after, own), valuesOf(o, own)); len(found) > 0 {
		return fmt.Sprintf("its %s differs from the object that the operator applied: %s", kind, found[0])
	}
	if last.body == nil || mc.Status.ObservedGeneration != mc.Generation {
		return ""
	}
	if found := undone(last.body, o); found != "" {
		return fmt.Sprintf("its %s is not what the operator sent: %s", kind, found)
	}
	if found := mismatch(last.body, mc); found != "" {
		return fmt.Sprintf("the object that the operator applied as its %s differs from the spec: %s", kind, found)
	}
	return ""
}

// undone returns which value in the stored object differs from the value that the operator sent, although no admission
// policy changes it any more.
func undone(sent, stored *object) string {
	return cmp.Or(
		otherScalar("metadata.labels", value(sent, "metadata", "labels"), value(stored, "metadata", "labels")),
		otherScalar("spec", value(sent, "spec"), value(stored, "spec")),
	)
}

// otherScalar describes the first value in sent that differs in stored. It compares fields, and list items that have
// the same name. It ignores items without names, because the order of their lists may differ.
func otherScalar(path string, sent, stored any) (found string) {
	switch sent := sent.(type) {
	case nil:
	case map[string]any:
		fields, _ := stored.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			found = cmp.Or(found, otherScalar(path+"."+name, sent[name], fields[name]))
		}
	case []any:
		for _, item := range sent {
			found = cmp.Or(found, otherNamed(path, item, stored))
		}
	default:
		if amount(sent) != amount(stored) {
			found = fmt.Sprintf("%s: %v -> %v", path, sent, stored)
		}
	}
	return found
}

// otherNamed compares an item with the items of the list that have the same name. Several items, for example mounts,
// may have this name.
func otherNamed(path string, item, list any) (found string) {
	fields, _ := item.(map[string]any)
	items, _ := list.([]any)
	for _, there := range items {
		its, _ := there.(map[string]any)
		if fields["name"] == nil || its["name"] != fields["name"] {
			continue
		}
		if found = otherScalar(fmt.Sprintf("%s[%s]", path, fields["name"]), item, there); found == "" {
			return ""
		}
	}
	return found
}
