package integration

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAnInvalidMemcachedIsRefusedWithWordsThatHelp(t *testing.T) {
	tests := map[string]struct {
		name string
		spec string
		want string
	}{
		"a size below zero": {
			spec: `{size: -1}`,
			want: `spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0`,
		},
		"a size above a thousand": {
			spec: `{size: 1001}`,
			want: `spec.size: Invalid value: 1001: spec.size in body should be less than or equal to 1000`,
		},
		"too little memory": {
			spec: `{memory: 15Mi}`,
			want: `spec.memory: Invalid value: "15Mi": memory must be at least 16Mi`,
		},
		"too little memory, as a bare number": {
			spec: `{memory: 64}`,
			want: `spec.memory: Invalid value: 64: memory must be at least 16Mi`,
		},
		"too much memory": {
			spec: `{memory: 5Ti}`,
			want: `spec.memory: Invalid value: "5Ti": memory must be at most 4Ti a node`,
		},
		"memory that is no quantity": {
			spec: `{memory: lots}`,
			want: `spec.memory: Invalid value: "lots": spec.memory in body should match`,
		},
		"an empty image": {
			spec: `{image: ""}`,
			want: `spec.image: Invalid value: "": spec.image in body should be at least 1 chars long`,
		},
		"a field that there is not": {
			spec: `{sizes: 3}`,
			want: `unknown field "spec.sizes"`,
		},
		"a name that begins with a digit": {
			name: "1cache", spec: `{}`,
			want: `metadata.name "1cache" can not name a Service`,
		},
		"a name with a dot": {
			name: "my.cache", spec: `{}`,
			want: `metadata.name "my.cache" can not name a Service`,
		},
		"a name of 64 characters": {
			name: strings.Repeat("a", 64), spec: `{}`,
			want: `can not name a Service: use at most 63 lower-case letters, digits and hyphens`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, tc.name, tc.spec)
			if err == nil {
				t.Fatal("it was taken")
			}
			gomega.NewWithT(t).Expect(err.Error()).To(gomega.ContainSubstring(tc.want))
		})
	}
}

func TestAMemcachedAtItsBoundsIsTaken(t *testing.T) {
	for _, spec := range []string{
		`{}`, `{size: 0}`, `{size: 1000}`, `{memory: 16Mi}`, `{memory: 4Ti}`, `{memory: 16777216}`, `{image: m}`,
	} {
		if err := create(t, "", spec); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if err := create(t, strings.Repeat("a", 63), `{}`); err != nil {
		t.Error(err)
	}
}

// create asks the API server, without keeping the object, to take a Memcached.
func create(t *testing.T, name, spec string) error {
	t.Helper()
	if name == "" {
		name = "cache"
	}
	object := &unstructured.Unstructured{}
	content := "{apiVersion: cache.example.com/v1, kind: Memcached, metadata: {namespace: default, name: " + name + "}, spec: " + spec + "}"
	if err := yaml.Unmarshal([]byte(content), &object.Object); err != nil {
		t.Fatal(err)
	}
	return cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
}
