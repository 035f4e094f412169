// Package crd checks the contract of a released CRD: objects that were valid stay valid, and mean the same.
//
// It refuses the changes that OLM v1's CRD upgrade safety check refuses, and all other changes that it does not know to
// be harmless. Print columns may change, because only people read them.
package crd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Violation is a change that breaks the contract.
type Violation struct {
	Version string // version of the API; empty if the change concerns all versions
	Field   string // such as spec.placement.preferredArchitectures[].weight; empty for the object as a whole
	What    string // the changed part of the field: a keyword of its schema, or a CEL rule's message
	Old     any
	New     any
	Why     string // why it must not change
}

func (v Violation) String() string {
	where := strings.TrimSpace(v.Version + " " + cmp.Or(v.Field, "(the object)"))
	return fmt.Sprintf("%s: %s was %s, is %s: %s", where, v.What, show(v.Old), show(v.New), v.Why)
}

func show(value any) string {
	if value == nil {
		return "not there"
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // CEL is full of <, > and &.
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(text.String())
}

// definition has the parts of a CustomResourceDefinition that are compared.
type definition struct {
	Spec struct {
		Group    string
		Scope    string
		Names    map[string]any
		Versions []version
	}
}

type version struct {
	Name             string
	Served           bool
	Subresources     map[string]any
	SelectableFields []any
	Schema           struct{ OpenAPIV3Schema map[string]any }
}

// comparison collects violations within one version of the API.
type comparison struct {
	version    string
	violations []Violation
}

func (c *comparison) refuse(field, what string, older, newer any, why string) {
	c.violations = append(c.violations, Violation{c.version, field, what, older, newer, why})
}

// Compare returns the changes by which a newer CRD breaks the contract of a released one. Both are in YAML.
func Compare(released, current []byte) ([]Violation, error) {
	var older, newer definition
	if err := yaml.Unmarshal(released, &older); err != nil {
		return nil, fmt.Errorf("released CRD: %w", err)
	}
	if err := yaml.Unmarshal(current, &newer); err != nil {
		return nil, fmt.Errorf("current CRD: %w", err)
	}
	c := &comparison{}
	c.fixed("spec", "group", older.Spec.Group, newer.Spec.Group, "objects are stored by it")
	c.fixed("spec", "scope", older.Spec.Scope, newer.Spec.Scope, "objects are stored by it")
	c.names(older.Spec.Names, newer.Spec.Names)
	for _, was := range older.Spec.Versions {
		i := slices.IndexFunc(newer.Spec.Versions, func(v version) bool { return v.Name == was.Name })
		if i < 0 {
			c.refuse("spec.versions", was.Name, "a version", nil, "objects may be stored in it")
			continue
		}
		inVersion := &comparison{version: was.Name}
		inVersion.compare(was, newer.Spec.Versions[i])
		c.violations = append(c.violations, inVersion.violations...)
	}
	return c.violations, nil
}

func (c *comparison) names(older, newer map[string]any) {
	for _, name := range []string{"kind", "listKind", "plural", "singular"} {
		c.fixed("spec.names", name, older[name], newer[name], "clients and manifests use it")
	}
	for _, name := range []string{"shortNames", "categories"} {
		c.kept("spec.names", name, older[name], newer[name], "people and scripts use it")
	}
}

func (c *comparison) compare(older, newer version) {
	if older.Served && !newer.Served {
		c.refuse("served", "it", true, false, "clients and manifests use it")
	}
	c.fixed("subresources", "status", older.Subresources["status"], newer.Subresources["status"],
		"who may write the status changes with it")
	if scale := older.Subresources["scale"]; scale != nil {
		c.fixed("subresources", "scale", scale, newer.Subresources["scale"], "autoscalers use it")
	}
	c.kept("selectableFields", "it", older.SelectableFields, newer.SelectableFields, "clients select by it")
	c.schema("", older.Schema.OpenAPIV3Schema, newer.Schema.OpenAPIV3Schema)
}

func (c *comparison) fixed(field, what string, older, newer any, why string) {
	if !reflect.DeepEqual(older, newer) {
		c.refuse(field, what, older, newer, why)
	}
}

// kept refuses a change to a list that removes a value. It allows new values.
func (c *comparison) kept(field, what string, older, newer any, why string) {
	if !holds(newer, older) {
		c.refuse(field, what, older, newer, why)
	}
}

// holds reports whether the list all contains every value of the list some.
func holds(all, some any) bool {
	have, _ := all.([]any)
	want, _ := some.([]any)
	return !slices.ContainsFunc(want, func(value any) bool {
		return !slices.ContainsFunc(have, func(other any) bool { return reflect.DeepEqual(value, other) })
	})
}

// union returns the keys of both maps, sorted, so that the order of the violations is always the same.
func union(a, b map[string]any) []string {
	keys := maps.Clone(b)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, a)
	return slices.Sorted(maps.Keys(keys))
}
