package model

import (
	"encoding/json"
	"regexp"
	"strconv"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// slotRef is the cache and the slot that the name of an object of slots contains.
type slotRef struct {
	cache  string
	slot   string // "slots" means all; for "discovery" and "bootstrap" see isDiscovery and isBootstrap
	family string // address family of an EndpointSlice
}

var slotObject = regexp.MustCompile(`^(.+)-(slots|discovery|bootstrap|\d+)(?:-(ipv[46]))?$`)

// slotOf parses the name of an object of slots, of discovery, or of a bootstrap. ok is false for other objects, which
// have the name of their Memcached.
func slotOf(at ref) (of slotRef, ok bool) {
	found := slotObject.FindStringSubmatch(at.name)
	isSlice := at.kind == "EndpointSlice"
	switch {
	case found == nil, (at.kind == "Deployment") != (found[2] == "bootstrap"):
		return of, false
	case !isSlice && at.kind != "Service" && at.kind != "Deployment", isSlice != (found[3] != ""):
		return of, false
	}
	return slotRef{found[1], found[2], found[3]}, true
}

// cacheNamed returns the name of the Memcached after which an object is named.
func cacheNamed(kind, name string) string {
	if of, ok := slotOf(ref{kind, name}); ok {
		return of.cache
	}
	return name
}

func cacheFor(o *object) string { return cacheNamed(o.GetKind(), o.GetName()) }

var podName = regexp.MustCompile(`^(.+)-[a-z0-9]+-[a-z0-9]+$`)

// cacheOfPod returns the name of the Memcached to which the Pod with this name belongs.
func cacheOfPod(name string) string {
	if found := podName.FindStringSubmatch(name); found != nil {
		return found[1]
	}
	return name
}

// isRecord reports whether an object is for all slots together.
func (s slotRef) isRecord() bool { return s.slot == "slots" }

// isDiscovery reports whether an object announces the servers to clients. A cache needs no slots for such an object.
func (s slotRef) isDiscovery() bool { return s.slot == "discovery" }

// isWanted reports whether the spec of a Memcached with slots requests the object.
func (s slotRef) isWanted(mc *cachev1.Memcached) bool {
	switch {
	case s.isDiscovery():
		return mc.Spec.Discovery != nil
	case s.isBootstrap():
		return movesIn(mc)
	case s.isRecord():
		return true
	}
	return s.isBelow(sizeOf(mc)) && orEmpty(mc.Spec.Slots).Mode == cachev1.SlotsClusterIP
}

// isBelow reports whether a cache of this size has the slot.
func (s slotRef) isBelow(size int64) bool {
	number, err := strconv.ParseInt(s.slot, 10, 32)
	return err == nil && number < size
}

func wantsSlots(mc *cachev1.Memcached) bool {
	return mc.Spec.Slots != nil
}

// recordsSlots reports whether the status records that the Pods have slots. If the Deployment is deleted before an
// update, the operator creates it again with slots.
func recordsSlots(mc *cachev1.Memcached) bool {
	var inputs struct{ Slots bool }
	return json.Unmarshal([]byte(mc.Status.TemplateInputs), &inputs) == nil && inputs.Slots
}
