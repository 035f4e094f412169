package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestChangedFields(t *testing.T) {
	tests := map[string]struct {
		live, wanted string
		want         []string
	}{
		"equal objects differ in nothing": {
			live:   `{spec: {replicas: 1}}`,
			wanted: `{spec: {replicas: 1}}`,
		},
		"what the server keeps for itself does not count": {
			live:   `{metadata: {resourceVersion: "1", generation: 1, uid: a, managedFields: []}, status: {ready: 1}}`,
			wanted: `{metadata: {resourceVersion: "2", generation: 2}}`,
		},
		"a changed value is named by its path": {
			live:   `{spec: {replicas: 3}}`,
			wanted: `{spec: {replicas: 1}}`,
			want:   []string{`.spec.replicas: 3 -> 1`},
		},
		"a key with dots is quoted": {
			live:   `{metadata: {labels: {app.kubernetes.io/name: a}}}`,
			wanted: `{metadata: {labels: {}}}`,
			want:   []string{`.metadata.labels["app.kubernetes.io/name"]: "a" -> (none)`},
		},
		"named items are compared with their namesakes, wherever they stand": {
			live:   `{c: [{name: injected, image: i}, {name: a, image: one}]}`,
			wanted: `{c: [{name: a, image: two}]}`,
			want: []string{
				`.c[name="a"].image: "one" -> "two"`,
				`.c[name="injected"]: {"image":"i","name":"injected"} -> (none)`,
			},
		},
		"items without a name are compared by their place": {
			live:   `{args: [-a, -b]}`,
			wanted: `{args: [-a, -c, -d]}`,
			want:   []string{`.args[1]: "-b" -> "-c"`, `.args[2]: (none) -> "-d"`},
		},
		"a value that changes its type is shown whole": {
			live:   `{spec: {a: {b: 1}}}`,
			wanted: `{spec: {a: [1]}}`,
			want:   []string{`.spec.a: {"b":1} -> [1]`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, change := range changedFields(parse(t, tc.live), parse(t, tc.wanted)) {
				got = append(got, change.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}
