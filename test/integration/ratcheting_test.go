package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// bounds are the keywords by which a schema refuses values of the right type.
var bounds = []string{
	"enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
}

// TestAValueThatWasValidBeforeARuleDoesNotBlockOtherChanges shows that a rule refuses only changes to an invalid value,
// and not the existing value. It installs a copy of the CRD without its rules, creates an object that violates them,
// and then adds the rules.
func TestAValueThatWasValidBeforeARuleDoesNotBlockOtherChanges(t *testing.T) {
	object := ratchetedMemcached(t)
	tests := map[string]struct{ patch, want string }{
		"metadata changes":                            {patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"another field changes":                       {patch: `{"spec":{"threads":8}}`},
		"a valid value takes the invalid one's place": {patch: `{"spec":{"memory":"1Gi"}}`},
		"an invalid field goes":                       {patch: `{"spec":{"podTemplate":null,"memory":null,"size":null}}`},
		"a sibling of an invalid scalar changes":      {patch: `{"spec":{"placement":{"priorityClassName":"high"}}}`},
		"an invalid value for another": {
			patch: `{"spec":{"memory":"2Mi"}}`,
			want:  `spec.memory: Invalid value: "2Mi": memory must be a quantity of at least 16Mi`,
		},
		"a second field becomes invalid": {
			patch: `{"spec":{"threads":0}}`,
			want:  `spec.threads: Invalid value: 0`,
		},
		"a field changes in an object whose rule is violated": {
			patch: `{"spec":{"rollout":{"minReadySeconds":1}}}`,
			want:  "spec.rollout: Invalid value: maxSurge and maxUnavailable (default: 0) must not both be 0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			patch := client.RawPatch(types.MergePatchType, []byte(tc.patch))
			err := cluster.Patch(t.Context(), object.DeepCopy(), patch, client.DryRunAll, client.FieldValidation("Strict"))
			if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}

// ratchetedMemcached creates a Memcached of another API group, which violates rules that are added after it.
func ratchetedMemcached(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	g := gomega.NewWithT(t)
	definition := readCRD(t)
	definition.SetName("memcacheds.ratcheting.example.com")
	_ = unstructured.SetNestedField(definition.Object, "ratcheting.example.com", "spec", "group")
	versions := definition.DeepCopy().Object["spec"].(map[string]any)["versions"]
	loosen(specSchema(definition))
	g.Expect(cluster.Create(t.Context(), definition)).To(gomega.Succeed())
	t.Cleanup(func() { _ = cluster.Delete(context.WithoutCancel(t.Context()), definition) })

	object := memcachedObject(t, "ratcheting", `{size: 1001, memory: 1Mi, rollout: {maxSurge: 0},
		podTemplate: {metadata: {labels: {app: x}}}, placement: {}}`)
	selector := map[string]any{}
	for i := range 65 {
		selector[fmt.Sprintf("example.com/a%d", i)] = "v"
	}
	g.Expect(unstructured.SetNestedMap(object.Object, selector, "spec", "placement", "nodeSelector")).To(gomega.Succeed())
	object.SetAPIVersion("ratcheting.example.com/v1")
	another := object.DeepCopy()
	another.SetName("another")
	g.Eventually(func() error { return cluster.Create(t.Context(), object) }, patience).Should(gomega.Succeed())

	g.Eventually(func() error {
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(definition), definition); err != nil {
			return err
		}
		definition.Object["spec"].(map[string]any)["versions"] = versions
		return cluster.Update(t.Context(), definition)
	}, patience).Should(gomega.Succeed())
	g.Eventually(func() error {
		return cluster.Create(t.Context(), another.DeepCopy(), client.DryRunAll)
	}, patience).Should(gomega.MatchError(gomega.ContainSubstring("spec.size: Invalid value: 1001")), "the rules are "+
		"in force")
	return object
}

// loosen removes the rules from a field and from all fields below it.
func loosen(schema map[string]any) {
	delete(schema, "x-kubernetes-validations")
	for _, bound := range bounds {
		delete(schema, bound)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		loosen(property.(map[string]any))
	}
	if list, ok := schema["items"].(map[string]any); ok {
		loosen(list)
	}
}

func readCRD(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	content := page.Read(t, repository+"/operator/config/crd/bases/cache.example.com_memcacheds.yaml")
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(content), &definition.Object); err != nil {
		t.Fatal(err)
	}
	return definition
}

// specSchema is the schema of spec, inside the definition.
func specSchema(definition *unstructured.Unstructured) map[string]any {
	version := definition.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	return schema["properties"].(map[string]any)["spec"].(map[string]any)
}
