package main

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"
)

func TestWhatAnObjectWaitsFor(t *testing.T) {
	c := &cluster{}
	for name, tc := range map[string]struct {
		of                 state
		object, want, fail string
	}{
		"nothing": {c.unready, `{apiVersion: v1, kind: ConfigMap}`, "", ""},
		"its CRD": {c.unready, `{apiVersion: v1, kind: Unknown}`, "it does not exist", ""},
		"a Memcached without a status": {c.unready,
			`{apiVersion: ` + operatorGroup + `/v1, kind: Memcached}`, "no operator has set its status yet: check that an operator is running", ""},
		"a Memcached with a status": {c.unready,
			`{apiVersion: ` + operatorGroup + `/v1, kind: Memcached, status: {observedGeneration: 1}}`, "", ""},
		"an object that failed": {c.unready, `{apiVersion: apps/v1, kind: Deployment, status: {conditions:
			[{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`, "", "Progress deadline exceeded"},
		"what delays a deletion": {c.remaining, `{apiVersion: v1, kind: Namespace, metadata: {finalizers: [a/b]}, status: {conditions:
			[{type: NamespaceContentRemaining, status: "True", message: some}, {type: Other, status: "False", message: none}]}}`,
			"it is being deleted: a/b: some", ""},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(tc.object), &o.Object); err != nil {
			t.Fatal(err)
		}
		o.SetName("x")
		c.Client = fake.NewClientBuilder().Build()
		if name != "its CRD" {
			c.Client = fake.NewClientBuilder().WithObjects(o).Build()
		}
		got, err := tc.of(t.Context(), o)
		if got != tc.want || (err == nil) != (tc.fail == "") || err != nil && !strings.Contains(err.Error(), tc.fail) {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
}
