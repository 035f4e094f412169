package apply

// Compares lists, for the fast check of covers.go.

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// ofLists returns a check that is true only for lists with the same items in the same order.
func (p pair) ofLists(atom *schema.List) check {
	item := p.of(atom.ElementType, p.wanted.Elem(), p.live.Elem())
	item.keys = atom.Keys
	item.whole = p.whole || len(item.keys) == 0 // An item of a set is atomic.
	same, unique := item.check(), item.unique()
	return func(wanted, live reflect.Value) bool {
		if wanted.IsNil() || live.IsNil() || wanted.Len() != live.Len() || !unique(live) {
			return false
		}
		for i := range wanted.Len() {
			if !same(wanted.Index(i), live.Index(i)) {
				return false
			}
		}
		return true
	}
}

// unique returns a check that no two items of a list have the same keys, because the library compares items with the
// same keys as one value. For a list of atomic items the check is always true.
func (p pair) unique() func(list reflect.Value) bool {
	if p.whole {
		return func(reflect.Value) bool { return true }
	}
	var keys []*value.FieldCacheEntry
	for _, name := range p.keys {
		entry := value.TypeReflectEntryOf(p.live).Fields()[name]
		if entry == nil || !isScalar(typeOf(entry, p.live)) {
			return func(reflect.Value) bool { return false }
		}
		keys = append(keys, entry)
	}
	return allApart(func(one, other reflect.Value) bool {
		return !slices.ContainsFunc(keys, func(key *value.FieldCacheEntry) bool {
			a, b := key.GetFrom(one), key.GetFrom(other)
			return !a.Equal(b) && !key.CanOmit(a) && !key.CanOmit(b) // A default may replace an omitted key.
		})
	})
}

func allApart(same func(one, other reflect.Value) bool) func(list reflect.Value) bool {
	return func(list reflect.Value) bool {
		for i := range list.Len() {
			for j := range i {
				if same(list.Index(i), list.Index(j)) {
					return false
				}
			}
		}
		return true
	}
}
