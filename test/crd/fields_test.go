package crd

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const repository = "../.."

func TestEveryFieldHasOneCase(t *testing.T) {
	if err := yaml.UnmarshalStrict(everyField, &cachev1.Memcached{}); err != nil {
		t.Errorf("every-field.yaml: %v", err)
	}
	spec, err := EveryField()
	if err != nil {
		t.Fatal(err)
	}
	fields, err := SettableFields(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		value := any(map[string]any{"spec": spec})
		for name := range strings.SplitSeq(field.Path, ".") {
			value = asMap(value)[name]
		}
		if value == nil {
			t.Errorf("%s has no case: add one line to test/crd/every-field.yaml", field.Path)
		}
	}
}

func TestEveryFieldSaysWhatItIsAndItsDefault(t *testing.T) {
	fields, err := SettableFields(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name := field.Path[strings.LastIndex(field.Path, ".")+1:]
		if !strings.HasPrefix(field.Schema.Description, name+" ") {
			t.Errorf("%s: its comment in operator/api/v1 begins with its name, as in %q", field.Path, name+" is the ...")
		}
		parent := field.Path[:strings.LastIndex(field.Path, ".")]
		all, _ := Fields(repository)
		if field.Default() == "" && !required(all, parent, name) {
			t.Errorf("%s: its comment in operator/api/v1 lacks a sentence \"Defaults to ...\"", field.Path)
		}
	}
}
