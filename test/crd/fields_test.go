package crd

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
			t.Errorf("%s has no value in the tests: add a line for it to test/crd/every-field.yaml", field.Path)
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
			t.Errorf("%s: its comment in operator/api/v1 does not have a sentence \"Defaults to ...\"", field.Path)
		}
	}
}

// TestSwitchesFollowOneRule checks the rule in the comment of package v1.
func TestSwitchesFollowOneRule(t *testing.T) {
	fields, err := Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		for _, problem := range switchProblems(field) {
			t.Errorf("%s: %s", field.Path, problem)
		}
	}
}

func TestASwitchThatBreaksTheRuleIsNoticed(t *testing.T) {
	enum := func(values ...string) (found []apiextensionsv1.JSON) {
		for _, value := range values {
			found = append(found, apiextensionsv1.JSON{Raw: []byte(`"` + value + `"`)})
		}
		return found
	}
	byDefault := func(value string) *apiextensionsv1.JSON { return &enum(value)[0] }
	tests := map[string]struct {
		path   string
		schema apiextensionsv1.JSONSchemaProps
		want   string
	}{
		"on by default": {"spec.a.mode", apiextensionsv1.JSONSchemaProps{Enum: enum("Enabled", "Disabled"), Default: byDefault("Enabled")}, ""},
		"a choice":      {"spec.a.mode", apiextensionsv1.JSONSchemaProps{Enum: enum("A", "B"), Default: byDefault("A")}, ""},
		"a mode without a default": {"spec.a.mode", apiextensionsv1.JSONSchemaProps{Enum: enum("A", "B")}, "no default " +
			"in the schema"},
		"off by default":            {"spec.a.mode", apiextensionsv1.JSONSchemaProps{Enum: enum("Enabled", "Disabled"), Default: byDefault("Disabled")}, "off by default"},
		"a third value":             {"spec.a.mode", apiextensionsv1.JSONSchemaProps{Enum: enum("A", "Disabled"), Default: byDefault("A")}, "Enabled and Disabled"},
		"another name":              {"spec.a.state", apiextensionsv1.JSONSchemaProps{Enum: enum("Enabled", "Disabled"), Default: byDefault("Enabled")}, "is not called mode"},
		"a boolean":                 {"spec.a.enabled", apiextensionsv1.JSONSchemaProps{Type: "boolean"}, "boolean"},
		"a boolean as in PodSpec":   {"spec.suspend", apiextensionsv1.JSONSchemaProps{Type: "boolean"}, ""},
		"a default that is no mode": {"spec.size", apiextensionsv1.JSONSchemaProps{Type: "integer", Default: byDefault("1")}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			problems := strings.Join(switchProblems(Field{Path: tc.path, Schema: tc.schema}), "; ")
			if tc.want == "" && problems != "" || !strings.Contains(problems, tc.want) {
				t.Errorf("got %q, want %q", problems, tc.want)
			}
		})
	}
}

// booleans are the fields that may be booleans, because Kubernetes has the same fields.
var booleans = []string{"spec.suspend", "spec.podTemplate.automountServiceAccountToken"}

func switchProblems(field Field) (problems []string) {
	var values []string
	for _, value := range field.Schema.Enum {
		values = append(values, strings.Trim(string(value.Raw), `"`))
	}
	isMode := strings.HasSuffix(field.Path, ".mode")
	if isMode && field.Schema.Default == nil {
		problems = append(problems, "a mode has no default in the schema")
	}
	if slices.Contains(values, "Disabled") {
		if !isMode {
			problems = append(problems, "a field with Disabled is not called mode")
		}
		if !slices.Equal(values, []string{"Enabled", "Disabled"}) {
			problems = append(problems, "the values are not Enabled and Disabled")
		}
		if field.Schema.Default != nil && string(field.Schema.Default.Raw) == `"Disabled"` {
			problems = append(problems, "what is off by default is turned on by the presence of its object")
		}
	}
	if field.Schema.Type == "boolean" && !slices.Contains(booleans, field.Path) {
		problems = append(problems, "a boolean: use the presence of an object, or a mode")
	}
	return problems
}
