package crd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const current = "../../operator/config/crd/bases/cache.example.com_memcacheds.yaml"

func TestWhatWasReleasedStaysValid(t *testing.T) {
	released, err := filepath.Glob("released/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range released {
		violations, err := Compare(read(t, file), read(t, current))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, violation := range violations {
			t.Errorf("since %s: %s", strings.TrimSuffix(filepath.Base(file), ".yaml"), violation)
		}
	}
}

// change is a change to a copy of this project's CRD: a JSON merge patch for one of its parts.
type change struct {
	part string // a field such as spec.extraArgs[], or one of the constants below
	set  string
	want string // how the first violation begins; empty if the change is allowed
}

const (
	wholeSpec   = "the definition's spec"
	onlyVersion = "the version"
	firstRule   = "the first CEL rule of spec.memory"
)

var changes = map[string]change{
	"a field is removed":                    {"spec", `{properties: {size: null}}`, `v1 spec.size: it was "a field", is not there: objects that have it would lose it`},
	"a field of a list's items is removed":  {"spec.placement.preferredArchitectures[]", `{properties: {weight: null}, required: [architecture]}`, `v1 spec.placement.preferredArchitectures[].weight: it was "a field", is not there`},
	"a field of the status is removed":      {"status", `{properties: {endpoint: null}}`, `v1 status.endpoint: it was "a field", is not there`},
	"a type is changed":                     {"spec.image", `{type: integer}`, `v1 spec.image: type was "string", is "integer": objects that exist have the old type`},
	"a number becomes int-or-string":        {"spec.threads", `{x-kubernetes-int-or-string: true}`, `v1 spec.threads: x-kubernetes-int-or-string was not there, is true`},
	"a format is changed":                   {"spec.size", `{format: int64}`, `v1 spec.size: format was "int32", is "int64": OLM v1 refuses each change of a schema that it can't judge`},
	"a default is added":                    {"spec.threads", `{default: 4}`, `v1 spec.threads: default was not there, is 4: objects without the field would change their meaning`},
	"a default is changed":                  {"spec.size", `{default: 3}`, `v1 spec.size: default was 1, is 3`},
	"an enum loses a value":                 {"spec.placement.architectures[]", `{enum: [amd64, arm64]}`, `v1 spec.placement.architectures[]: enum was ["amd64","arm64","ppc64le","s390x"], is ["amd64","arm64"]: values may only be added`},
	"an enum is added":                      {"spec.image", `{enum: [memcached]}`, `v1 spec.image: enum was not there, is ["memcached"]`},
	"an enum is removed":                    {"spec.placement.architectures[]", `{enum: null}`, `v1 spec.placement.architectures[]: enum was `},
	"a maximum is lowered":                  {"spec.size", `{maximum: 500}`, `v1 spec.size: maximum was 1000, is 500: a bound may only be loosened, or objects that exist are refused`},
	"a minimum is raised":                   {"spec.size", `{minimum: 1}`, `v1 spec.size: minimum was 0, is 1: a bound may only be loosened`},
	"a longest length is lowered":           {"spec.image", `{maxLength: 255}`, `v1 spec.image: maxLength was 512, is 255`},
	"a shortest length is raised":           {"spec.image", `{minLength: 3}`, `v1 spec.image: minLength was 1, is 3`},
	"fewer items are allowed":               {"spec.extraArgs", `{maxItems: 32}`, `v1 spec.extraArgs: maxItems was 64, is 32`},
	"more items are demanded":               {"spec.placement.architectures", `{minItems: 2}`, `v1 spec.placement.architectures: minItems was 1, is 2`},
	"fewer properties are allowed":          {"spec.podTemplate.metadata.labels", `{maxProperties: 32}`, `v1 spec.podTemplate.metadata.labels: maxProperties was 64, is 32`},
	"properties are demanded":               {"spec.podTemplate.metadata.labels", `{minProperties: 1}`, `v1 spec.podTemplate.metadata.labels: minProperties was not there, is 1`},
	"a pattern is added":                    {"spec.image", `{pattern: "^[a-z]"}`, `v1 spec.image: pattern was not there, is "^[a-z]": existing objects may not match`},
	"a pattern is changed":                  {"spec.memory", `{pattern: "^[0-9]+Mi$"}`, `v1 spec.memory: pattern was "^`},
	"a pattern is removed":                  {"spec.memory", `{pattern: null}`, `v1 spec.memory: pattern was "^`},
	"null is allowed":                       {"spec.memory", `{nullable: true}`, `v1 spec.memory: nullable was not there, is true`},
	"a choice of types is narrowed":         {"spec.memory", `{anyOf: [{type: string}]}`, `v1 spec.memory: anyOf was [{"type":"integer"},{"type":"string"}], is [{"type":"string"}]`},
	"values of a map get a bound":           {"spec.podTemplate.metadata.labels", `{additionalProperties: {maxLength: 63}}`, `v1 spec.podTemplate.metadata.labels: additionalProperties was {"type":"string"}, is {"maxLength":63,"type":"string"}`},
	"a field becomes required":              {"spec", `{required: [image]}`, `v1 spec: required was not there, is ["image"]: a new field must be optional, or objects that exist are refused`},
	"a new field is required":               {"spec.rollout", `{properties: {pace: {type: string}}, required: [pace]}`, `v1 spec.rollout: required was not there, is ["pace"]`},
	"a list's type is changed":              {"spec.extraArgs", `{x-kubernetes-list-type: set}`, `v1 spec.extraArgs: x-kubernetes-list-type was "atomic", is "set": server-side apply merges and owns by it`},
	"a list's keys are changed":             {"spec.placement.preferredArchitectures", `{x-kubernetes-list-map-keys: [architecture, weight]}`, `v1 spec.placement.preferredArchitectures: x-kubernetes-list-map-keys was ["architecture"], is ["architecture","weight"]`},
	"a map becomes atomic":                  {"spec.podTemplate.metadata", `{x-kubernetes-map-type: atomic}`, `v1 spec.podTemplate.metadata: x-kubernetes-map-type was not there, is "atomic"`},
	"a CEL rule is added":                   {"spec.image", `{x-kubernetes-validations: [{rule: self != '', message: no}]}`, `v1 spec.image: the CEL rule was not there, is "self != ''": a new rule may refuse objects that exist`},
	"a CEL rule is added to the object":     {"", `{x-kubernetes-validations: [{rule: "true", message: no}]}`, `v1 (the object): the CEL rule was "size(self.metadata.name)`},
	"CEL rules are removed":                 {"spec.disruption.maxUnavailable", `{x-kubernetes-validations: null}`, `v1 spec.disruption.maxUnavailable: the CEL rule was "type(self) == string`},
	"a CEL rule's expression is changed":    {firstRule, `{rule: "true"}`, `v1 spec.memory: the CEL rule was "isQuantity(`},
	"a CEL rule's message is changed":       {firstRule, `{message: too little}`, `v1 spec.memory: message of the CEL rule "isQuantity(`},
	"the scope is changed":                  {wholeSpec, `{scope: Cluster}`, `spec: scope was "Namespaced", is "Cluster": objects are stored by it`},
	"the group is changed":                  {wholeSpec, `{group: example.com}`, `spec: group was "cache.example.com", is "example.com"`},
	"the kind is changed":                   {wholeSpec, `{names: {kind: Cache}}`, `spec.names: kind was "Memcached", is "Cache": clients and manifests use it`},
	"the plural is changed":                 {wholeSpec, `{names: {plural: caches}}`, `spec.names: plural was "memcacheds", is "caches"`},
	"a short name is removed":               {wholeSpec, `{names: {shortNames: [mcd]}}`, `spec.names: shortNames was ["mc"], is ["mcd"]: people and scripts use it`},
	"a category is removed":                 {wholeSpec, `{names: {categories: null}}`, `spec.names: categories was ["memcached"], is not there`},
	"a version is removed":                  {onlyVersion, `{name: v2}`, `spec.versions: v1 was "a version", is not there: objects may be stored in it`},
	"a version is no longer served":         {onlyVersion, `{served: false}`, `v1 served: it was true, is false: clients and manifests use it`},
	"the status becomes part of the object": {onlyVersion, `{subresources: {status: null}}`, `v1 subresources: status was {}, is not there: who may write the status changes with it`},
	"the scale subresource is removed":      {onlyVersion, `{subresources: {scale: null}}`, `v1 subresources: scale was {"labelSelectorPath"`},
	"the scale subresource scales another":  {onlyVersion, `{subresources: {scale: {specReplicasPath: .spec.nodes}}}`, `v1 subresources: scale was {"labelSelectorPath"`},
	"a new optional field":                  {"spec", `{properties: {pace: {type: string, default: slow, maxLength: 9, x-kubernetes-validations: [{rule: self != ''}]}}}`, ""},
	"a new object that requires a field":    {"spec", `{properties: {auth: {type: object, properties: {secretName: {type: string}}, required: [secretName]}}}`, ""},
	"a new field of the status":             {"status", `{properties: {phase: {type: string}}}`, ""},
	"a new value of an enum":                {"spec.placement.architectures[]", `{enum: [riscv64, amd64, arm64, ppc64le, s390x]}`, ""},
	"a maximum is raised":                   {"spec.size", `{maximum: 2000}`, ""},
	"a minimum is lowered":                  {"spec.threads", `{minimum: 0}`, ""},
	"numbers of items are loosened":         {"spec.placement.architectures", `{minItems: 0, maxItems: 16}`, ""},
	"a required field becomes optional":     {"spec.placement.preferredArchitectures[]", `{required: [architecture]}`, ""},
	"a description is changed":              {"spec.size", `{description: how many}`, ""},
	"a new short name and category":         {wholeSpec, `{names: {shortNames: [mc, mcd], categories: [memcached, caches]}}`, ""},
	"other columns are printed":             {onlyVersion, `{additionalPrinterColumns: null}`, ""},
	"a version is deprecated":               {onlyVersion, `{deprecated: true}`, ""},
}

func TestAChangeThatBreaksObjectsOrClientsIsRefusedAndNoOther(t *testing.T) {
	for name, tc := range changes {
		t.Run(name, func(t *testing.T) {
			violations, err := Compare(read(t, current), tc.made(t))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(violations) > 0 {
				got = violations[0].String()
			}
			if !strings.HasPrefix(got, tc.want) || got != "" && tc.want == "" {
				t.Errorf("want %q\ngot  %q", tc.want, got)
			}
		})
	}
}

func TestTheOrderOfCELRulesStays(t *testing.T) {
	definition := parse(t)
	rules := part(definition, "spec.memory")["x-kubernetes-validations"].([]any)
	slices.Reverse(rules)
	violations, err := Compare(read(t, current), render(t, definition))
	if err != nil || len(violations) != 1 || violations[0].What != "the order of CEL rules" {
		t.Errorf("violations: %v, error: %v", violations, err)
	}
}

func TestAnotherVersionMayBeAdded(t *testing.T) {
	definition := parse(t)
	spec := part(definition, wholeSpec)
	spec["versions"] = append([]any{map[string]any{"name": "v2", "served": true}}, spec["versions"].([]any)...)
	violations, err := Compare(read(t, current), render(t, definition))
	if err != nil || len(violations) != 0 {
		t.Errorf("violations: %v, error: %v", violations, err)
	}
}

// made returns this project's CRD with the change.
func (c change) made(t *testing.T) []byte {
	t.Helper()
	definition, patch := parse(t), map[string]any{}
	if err := yaml.Unmarshal([]byte(c.set), &patch); err != nil {
		t.Fatal(err)
	}
	merge(part(definition, c.part), patch)
	return render(t, definition)
}

// part returns the part of the CRD with this name.
func part(definition map[string]any, name string) map[string]any {
	spec := asMap(definition["spec"])
	version := asMap(asList(spec["versions"])[0])
	switch name {
	case wholeSpec:
		return spec
	case onlyVersion:
		return version
	case firstRule:
		return asMap(asList(part(definition, "spec.memory")["x-kubernetes-validations"])[0])
	}
	schema := asMap(asMap(version["schema"])["openAPIV3Schema"])
	for step := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' }) {
		field, isList := strings.CutSuffix(step, "[]")
		schema = asMap(asMap(schema["properties"])[field])
		if isList {
			schema = asMap(schema["items"])
		}
	}
	return schema
}

// merge is a JSON merge patch.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		switch {
		case value == nil:
			delete(into, key)
		case asMap(value) != nil && asMap(into[key]) != nil:
			merge(asMap(into[key]), asMap(value))
		default:
			into[key] = value
		}
	}
}

func parse(t *testing.T) map[string]any {
	t.Helper()
	definition := map[string]any{}
	if err := yaml.Unmarshal(read(t, current), &definition); err != nil {
		t.Fatal(err)
	}
	return definition
}

func render(t *testing.T, definition map[string]any) []byte {
	t.Helper()
	content, err := yaml.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
