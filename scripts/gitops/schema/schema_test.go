package schema

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestFaults(t *testing.T) {
	content, err := os.ReadFile("../../../bundle/manifests/cache.example.com_memcacheds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schemas := Schemas{}
	if err := schemas.Add(object(t, string(content))); err != nil {
		t.Fatal(err)
	}
	const head = "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: a, labels: {x: \"y\"}}\n"
	tests := map[string]struct {
		manifest string
		want     []string
	}{
		"what the API server takes":   {head + "spec: {size: 3}\n", nil},
		"a field that there is not":   {head + "spec: {size: 3, sise: 3}\n", []string{"spec.sise: there is no such field"}},
		"a value of another type":     {head + "spec: {size: three}\n", []string{`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`}},
		"a kind that nobody has read": {"apiVersion: acme.test/v1\nkind: Thing\nspec: {a: 1}\n", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, schemas.Faults(object(t, tc.manifest))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestADefinitionWithoutASchemaAddsNothing(t *testing.T) {
	schemas := Schemas{}
	err := schemas.Add(object(t, "kind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {versions: [{name: v1, served: true}]}\n"))
	if err != nil || len(schemas) > 0 {
		t.Errorf("%v, %v", schemas, err)
	}
	if err := schemas.Add(object(t, "kind: CustomResourceDefinition\nspec: {versions: one}\n")); err == nil {
		t.Error("versions are a list")
	}
}

func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
