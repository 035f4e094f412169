package apply

// The fast check that nothing differs. If the check is not sure, compare.go finds out whether something differs.

import (
	"bytes"
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// check reports whether applying a desired value over a live one would certainly change nothing. If it is not sure, it
// returns false. Both values exist, because a check is not called for omitted fields.
type check func(wanted, live reflect.Value) bool

func unsure(_, _ reflect.Value) bool { return false }

// pair holds the Go types of a desired and a live value that have the same type in the schema.
type pair struct {
	schema       *schema.Schema
	ref          schema.TypeRef
	wanted, live reflect.Type

	// whole: the live value must equal the desired value, because the value is atomic.
	whole bool

	// keys are the fields that identify the items of a list. The API server replaces an omitted key by a default, so the
	// desired and the live item must both omit the key, or both have it.
	keys []string

	// ignored are fields that are not compared.
	ignored []string
}

func (p pair) of(ref schema.TypeRef, wanted, live reflect.Type) pair {
	return pair{schema: p.schema, ref: ref, wanted: wanted, live: live, whole: p.whole}
}

func (p pair) check() check {
	switch {
	case p.wanted.Kind() == reflect.Pointer:
		p.wanted = p.wanted.Elem()
		inner := p.check()
		return func(wanted, live reflect.Value) bool { return !wanted.IsNil() && inner(wanted.Elem(), live) }
	case p.live.Kind() == reflect.Pointer:
		p.live = p.live.Elem()
		inner := p.check()
		return func(wanted, live reflect.Value) bool { return !live.IsNil() && inner(wanted, live.Elem()) }
	case p.wanted == p.live && (isScalar(p.live) || p.live == reflect.TypeFor[intstr.IntOrString]()):
		return reflect.Value.Equal
	case p.wanted == p.live && p.live == reflect.TypeFor[resource.Quantity]():
		return func(wanted, live reflect.Value) bool {
			return sameQuantity(wanted.Interface().(resource.Quantity), live.Interface().(resource.Quantity))
		}
	case value.TypeReflectEntryOf(p.wanted).CanConvertToUnstructured(),
		value.TypeReflectEntryOf(p.live).CanConvertToUnstructured(),
		p.wanted.Kind() != p.live.Kind():
		return unsure // The JSON of this type does not consist of its fields.
	}
	atom, known := p.schema.Resolve(p.ref)
	p.whole = p.whole || isAtomic(atom)
	switch kind := p.live.Kind(); {
	case known && kind == reflect.Struct && atom.Map != nil:
		return p.ofStructs(atom.Map)
	case known && kind == reflect.Map && atom.Map != nil:
		return p.ofMaps()
	case known && kind == reflect.Slice && atom.List != nil:
		return p.ofLists(atom.List)
	}
	return unsure
}

func isAtomic(atom schema.Atom) bool {
	return atom.Map != nil && atom.Map.ElementRelationship == schema.Atomic ||
		atom.List != nil && atom.List.ElementRelationship == schema.Atomic
}

func isScalar(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Bool || reflect.Zero(t).CanInt()
}

// fieldPair is a field that both types have. The library's entry for a field shows which of its values are omitted from
// the JSON.
type fieldPair struct {
	wanted, live *value.FieldCacheEntry
	whole        bool
	check        check
}

func (f fieldPair) covers(wanted, live reflect.Value) bool {
	wanted, live = f.wanted.GetFrom(wanted), f.live.GetFrom(live)
	if f.wanted.CanOmit(wanted) {
		return !f.whole || f.live.CanOmit(live)
	}
	return !f.live.CanOmit(live) && f.check(wanted, live)
}

// ofStructs returns a check that compiles the checks of the fields at its first use, because most fields of a Pod are
// never used.
func (p pair) ofStructs(atom *schema.Map) check {
	find := sync.OnceValues(func() ([]fieldPair, bool) { return p.fields(atom) })
	return func(wanted, live reflect.Value) bool {
		fields, ok := find()
		for i := 0; ok && i < len(fields); i++ {
			ok = fields[i].covers(wanted, live)
		}
		return ok
	}
}

// fields returns the checks of the fields. It returns false if the types do not fit: the live type or the schema does
// not have one of the fields or, for an atomic value, the live type has more fields.
func (p pair) fields(atom *schema.Map) ([]fieldPair, bool) {
	wanted, live := value.TypeReflectEntryOf(p.wanted).OrderedFields(), value.TypeReflectEntryOf(p.live).Fields()
	if p.whole && len(wanted) != len(live) {
		return nil, false
	}
	var fields []fieldPair
	for _, entry := range wanted {
		name := entry.JsonName
		if slices.Contains(p.ignored, name) {
			continue
		}
		there, inSchema := atom.FindField(name)
		if live[name] == nil || !inSchema {
			return nil, false
		}
		inner := p.of(there.Type, typeOf(entry, p.wanted), typeOf(live[name], p.live))
		whole := p.whole || slices.Contains(p.keys, name)
		fields = append(fields, fieldPair{wanted: entry, live: live[name], whole: whole, check: inner.check()})
	}
	return fields, true
}

func typeOf(entry *value.FieldCacheEntry, parent reflect.Type) reflect.Type {
	return entry.GetFrom(reflect.Zero(parent)).Type()
}

// ofMaps returns a check of the map types that managed objects have.
func (p pair) ofMaps() check {
	switch {
	case p.wanted == p.live && p.live == reflect.TypeFor[map[string]string]():
		return mapCheck[map[string]string](p.whole, func(a, b string) bool { return a == b })
	case p.wanted == p.live && p.live == reflect.TypeFor[map[string][]byte]():
		return mapCheck[map[string][]byte](p.whole, bytes.Equal)
	case p.wanted == p.live && p.live == reflect.TypeFor[corev1.ResourceList]():
		return mapCheck[corev1.ResourceList](p.whole, sameQuantity)
	}
	return unsure
}

func mapCheck[M ~map[K]V, K comparable, V any](whole bool, same func(V, V) bool) check {
	return func(wanted, live reflect.Value) bool {
		if wanted.IsNil() || live.IsNil() || whole && wanted.Len() != live.Len() {
			return false
		}
		there := live.Interface().(M)
		for key, asked := range wanted.Interface().(M) {
			if found, ok := there[key]; !ok || !same(asked, found) {
				return false
			}
		}
		return true
	}
}

// sameQuantity reports whether quantities have the same canonical text, as 0.5 and 500m have. The library treats 1Gi
// and 1073741824 as different.
func sameQuantity(a, b resource.Quantity) bool {
	return a.Cmp(b) == 0 && (a.Format == b.Format || a.String() == b.String())
}
