package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// harmless are the fields of the spec that never replace a Pod: docs/memcached/README.md has them.
var (
	harmless = []string{
		"size", "suspend", "updatePolicy", "networkPolicy", "disruption", "commonMetadata", "service", "rollout",
	}
)

// defaults are the values of fields that are not set, as far as the operator's version does not decide them.
var defaults = map[string]any{
	"memory": "64Mi", "maxItemSize": "1Mi", "maxConnections": 1024.0, "threads": 4.0,
	"terminationDelaySeconds": 30.0,
	"metrics": map[string]any{"mode": "Enabled", "slabMetrics": "Totals"},
}

// podFields returns the fields of a spec that replace the Pods. Other spellings of the same are equal: a default that
// is written out, another unit, another order of a set, an empty object.
func podFields(mc *cachev1.Memcached) string {
	spec := plain(mc.Spec)
	maps.DeleteFunc(spec, func(name string, _ any) bool { return slices.Contains(harmless, name) })
	if placement, ok := spec["placement"].(map[string]any); ok {
		withoutNoEffect(placement)
	}
	if template, ok := spec["podTemplate"].(map[string]any); ok {
		withoutDefaults(template)
	}
	spec["slots"] = nil
	if wantsSlots(mc) {
		spec["slots"] = true // Which mode does not matter to the Pods.
	}
	for name, fallback := range defaults {
		spec[name] = withDefault(spec[name], fallback)
	}
	maps.DeleteFunc(spec, func(_ string, value any) bool { return isEmpty(value) })
	spec["imagePullSecrets"] = sortedSet(spec["imagePullSecrets"])
	for _, quantity := range []string{"memory", "maxItemSize"} {
		spec[quantity] = amount(spec[quantity])
	}
	if resources, ok := spec["resources"].(map[string]any); ok {
		spec["resources"] = amounts(resources)
	}
	return encoded(spec)
}

// withoutNoEffect removes what has no effect from a placement.
func withoutNoEffect(placement map[string]any) {
	for _, set := range []string{"architectures", "preferredArchitectures"} {
		placement[set] = sortedSet(placement[set])
	}
	maps.DeleteFunc(placement, func(_ string, value any) bool { return value == defaultScheduler })
	if affinity, ok := placement["affinity"].(map[string]any); ok {
		maps.DeleteFunc(affinity, func(_ string, value any) bool { return isEmpty(value) })
	}
	maps.DeleteFunc(placement, func(_ string, value any) bool { return isEmpty(value) })
}

// withoutDefaults removes from a Pod template what the operator leaves out, too.
func withoutDefaults(template map[string]any) {
	if template["serviceAccountName"] == "default" {
		delete(template, "serviceAccountName")
	}
	if dns, ok := template["dnsConfig"].(map[string]any); ok {
		dns["options"] = sortedSet(dns["options"])
		maps.DeleteFunc(dns, func(_ string, value any) bool { return isEmpty(value) })
	}
	maps.DeleteFunc(template, func(_ string, value any) bool { return isEmpty(value) })
}

func plain(value any) map[string]any {
	fields := map[string]any{}
	_ = json.Unmarshal([]byte(encoded(value)), &fields)
	return fields
}

func encoded(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

func withDefault(value, fallback any) any {
	defaults, ok := fallback.(map[string]any)
	if !ok {
		if value == nil {
			return fallback
		}
		return value
	}
	fields := maps.Clone(defaults)
	if set, ok := value.(map[string]any); ok {
		maps.Copy(fields, set)
	}
	return fields
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

func sortedSet(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	var items []string
	for _, item := range list {
		items = append(items, encoded(item))
	}
	slices.Sort(items)
	return items
}

func amount(value any) any {
	quantity, err := resource.ParseQuantity(fmt.Sprint(value))
	if err != nil {
		return value
	}
	return quantity.AsDec().String()
}

func amounts(resources map[string]any) map[string]any {
	for _, list := range resources {
		fields, _ := list.(map[string]any)
		for name := range fields {
			fields[name] = amount(fields[name])
		}
	}
	return resources
}

// ordered are the lists of a Pod template whose order matters.
var ordered = map[string]bool{"args": true, "command": true, "containers": true, "initContainers": true, "env": true}

// canonical encodes a Pod template without the order of sets: the operator keeps the order that it finds.
func canonical(template any) string { return encoded(unordered("", template)) }

func unordered(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name := range value {
			if field := unordered(name, value[name]); field != nil {
				fields[name] = field
			}
		}
		return fields
	case []any:
		items := make([]any, len(value))
		for i := range value {
			items[i] = unordered("", value[i])
		}
		if !ordered[name] {
			return sortedSet(items)
		}
		return items
	}
	return value
}
