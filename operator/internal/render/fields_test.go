package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/crd"
)

const (
	repository = "../../.."
	effectsOf  = "testdata/fields.txt"
)

// withoutObjects are fields that change none of the rendered objects. They decide at what times the operator writes the
// objects, how Pods with slots are replaced, added and removed, what running Pods get (package autoscale), or what a
// Job restores (snapshot_test.go).
var withoutObjects = []string{
	"spec.suspend", "spec.updatePolicy", "spec.rollout.memoryChange",
	"spec.slots.clientHash", "spec.slots.scaleOverlapSeconds", "spec.slots.handoff.mode", "spec.slots.handoff.bytesPerSecond",
	"spec.autoscaling.memory.mode", "spec.autoscaling.memory.min", "spec.autoscaling.memory.max",
	"spec.autoscaling.size.mode", "spec.autoscaling.size.min", "spec.autoscaling.size.max",
	"spec.autoscaling.size.evictionAgeSeconds", "spec.autoscaling.size.cooldownSeconds",
	"spec.autoscaling.quietDays",
	"spec.autoscaling.memory.evictionAgeSeconds", "spec.autoscaling.memory.cooldownSeconds",
	"spec.bootstrap.mode", "spec.bootstrap.from.snapshot.url",
	"spec.bootstrap.from.snapshot.credentials.secretName", "spec.bootstrap.from.snapshot.credentials.serviceAccountName",
	"spec.bootstrap.from.snapshot.persistentVolumeClaim.claimName",
}

// TestEveryFieldReachesAnObject compares the objects of caches with and without each field, and keeps the differences.
// The test finds new fields itself; test/crd/every-field.yaml has their values.
func TestEveryFieldReachesAnObject(t *testing.T) {
	var text strings.Builder
	for _, effect := range effects(t) {
		if (len(effect.lines) == 0) != slices.Contains(withoutObjects, effect.field.Path) {
			t.Errorf("%s changes %d fields of objects: see package plan and this package", effect.field.Path, len(effect.lines))
		}
		fmt.Fprintf(&text, "%s\n%s\n", effect.field.Path, strings.Join(effect.lines, ""))
	}
	page.Golden(t, effectsOf, text.String(), *update)
}

var neededByBootstrap = map[string]any{"clientHash": "Rendezvous"}

// effect has the changes that a field makes to the objects of a cache.
type effect struct {
	field        crd.Field
	lines        []string
	replacesPods bool
}

func effects(t *testing.T) (effects []effect) {
	t.Helper()
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	settable, err := crd.SettableFields(repository)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := crd.EveryField()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range settable {
		with, without := crd.Only(fields, spec, field.Path)
		if strings.HasPrefix(field.Path, "spec.bootstrap.") { // A bootstrap is refused without these fields.
			with["slots"], without["slots"] = neededByBootstrap, neededByBootstrap
		}
		templateWith, valuesWith := rendering(t, with)
		templateWithout, valuesWithout := rendering(t, without)
		effect := effect{field: field, replacesPods: templateWith != templateWithout}
		for _, path := range slices.Sorted(maps.Keys(valuesWith)) {
			if valuesWith[path] != valuesWithout[path] {
				effect.lines = append(effect.lines, fmt.Sprintf("  + %s: %s\n", path, valuesWith[path]))
			}
		}
		for _, path := range slices.Sorted(maps.Keys(valuesWithout)) {
			if _, stays := valuesWith[path]; !stays {
				effect.lines = append(effect.lines, fmt.Sprintf("  - %s: %s\n", path, valuesWithout[path]))
			}
		}
		effects = append(effects, effect)
	}
	return effects
}

// rendering returns the hash of the Pod template and each value of all objects by its path. The cache has two Pods
// unless the spec has another size.
func rendering(t *testing.T, spec map[string]any) (template string, values map[string]string) {
	t.Helper()
	content, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, func(s *cachev1.MemcachedSpec) {
		s.Size = new(int32(2))
		if err := yaml.UnmarshalStrict(content, s); err != nil {
			t.Fatal(err)
		}
	}, defaults)
	values = map[string]string{}
	for _, object := range objectsOf(p) {
		content, err := json.Marshal(object.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(content, &tree); err != nil {
			t.Fatal(err)
		}
		flatten(tree, kindOf(object), values)
	}
	return p.Record.Template, values
}

// flatten adds each value of a tree to the map values, by its path. It leaves out the operator's own annotations, which
// follow from the other values.
func flatten(tree any, path string, values map[string]string) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if !strings.HasPrefix(name, cachev1.GroupVersion.Group+"/") {
				flatten(value, path+"."+name, values)
			}
		}
	case []any:
		for i, value := range tree {
			flatten(value, fmt.Sprintf("%s[%d]", path, i), values)
		}
	default:
		values[path] = fmt.Sprint(tree)
	}
}
