package model

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// desired knows each managed object as it was after the operator had applied it last.
type desired struct {
	*past

	last map[ref]*object
}

func (d *desired) check(e history.Entry) string {
	if o, by := d.writes(e); o != nil && fieldManagerOf(by) == fieldManager && e.State.Type != watch.Deleted {
		d.last[refOf(o)] = o
	}
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
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == pauseManager {
			return fmt.Sprintf("its %s is still paused", kind)
		}
	}
	if last := d.last[ref{kind, mc.Name}]; last != nil && last.GetUID() == o.GetUID() {
		if found := differences("", valuesOf(last, ownFields(last)), valuesOf(o, ownFields(last))); len(found) > 0 {
			return fmt.Sprintf("its %s is not as it was applied: %s", kind, found[0])
		}
	}
	return ""
}
