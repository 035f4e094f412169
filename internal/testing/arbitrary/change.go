package arbitrary

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/randfill"
)

// Change changes an object in up to three places, usually in fields that are set. It also removes, repeats and
// reorders items of lists.
func Change(filler *randfill.Filler, object any) {
	for range 1 + choose(filler, 3) {
		change(filler, reflect.ValueOf(object).Elem())
	}
}

func choose(filler *randfill.Filler, n int) int {
	var choice uint16
	filler.Fill(&choice)
	return int(choice) % n
}

func change(filler *randfill.Filler, v reflect.Value) {
	_, whole := reflect.TypeAssert[json.Marshaler](v.Addr())
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && choose(filler, 8) > 0:
		change(filler, v.Elem())
	case v.Kind() == reflect.Struct && !whole:
		changeField(filler, v)
	case v.Kind() == reflect.Slice && v.Len() > 0 && choose(filler, 8) > 0:
		changeItem(filler, v)
	case v.Kind() == reflect.Map && v.Len() > 0 && choose(filler, 8) > 0:
		changeEntry(filler, v)
	default:
		replace(filler, v)
	}
}

func replace(filler *randfill.Filler, v reflect.Value) {
	quantity, ok := reflect.TypeAssert[*resource.Quantity](v.Addr())
	switch choose(filler, 4) {
	case 0:
		v.SetZero()
	case 1:
		if ok { // It stays the same value, in another spelling.
			*quantity = *resource.NewMilliQuantity(quantity.MilliValue(), resource.DecimalExponent)
		}
	default:
		filler.Fill(v.Addr().Interface())
	}
}

func changeField(filler *randfill.Filler, v reflect.Value) {
	var set, all []reflect.Value
	for _, field := range v.Fields() {
		if field.CanSet() {
			all = append(all, field)
			if !field.IsZero() {
				set = append(set, field)
			}
		}
	}
	if len(set) > 0 && choose(filler, 4) > 0 {
		all = set
	}
	if len(all) > 0 {
		change(filler, all[choose(filler, len(all))])
	}
}

func changeItem(filler *randfill.Filler, v reflect.Value) {
	one, other := choose(filler, v.Len()), choose(filler, v.Len())
	switch choose(filler, 6) {
	case 0:
		v.Set(v.Slice(0, one))
	case 1:
		v.Set(reflect.Append(v, v.Index(one)))
	case 2:
		reflect.Swapper(v.Interface())(one, other)
	case 3:
		v.Index(one).Set(v.Index(other))
	default:
		change(filler, v.Index(one))
	}
}

func changeEntry(filler *randfill.Filler, v reflect.Value) {
	keys := v.MapKeys()
	key, entry := keys[choose(filler, len(keys))], reflect.New(v.Type().Elem()).Elem()
	switch choose(filler, 3) {
	case 0:
		v.SetMapIndex(key, reflect.Value{})
		return
	case 1:
		key = reflect.New(key.Type()).Elem()
		filler.Fill(key.Addr().Interface())
		filler.Fill(entry.Addr().Interface())
	default:
		entry.Set(v.MapIndex(key))
		replace(filler, entry)
	}
	v.SetMapIndex(key, entry)
}
