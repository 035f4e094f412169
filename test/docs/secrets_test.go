package docs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const repository = "../.."

// TestTheSecretsPageWritesTheKeysThatACacheReads checks the keys of the Secret that each controller would write.
func TestTheSecretsPageWritesTheKeysThatACacheReads(t *testing.T) {
	manifests, err := Manifests(repository)
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]map[string]string{}
	for _, manifest := range manifests {
		if !strings.HasPrefix(manifest.Where, "docs/secrets.md:") {
			continue
		}
		object := manifest.Object.Object
		text := func(path ...string) string { text, _, _ := unstructured.NestedString(object, path...); return text }
		kind := manifest.Object.GetKind()
		if written[kind] == nil {
			written[kind] = map[string]string{}
		}
		secrets := written[kind]
		switch kind {
		case "Memcached":
			secrets[text("spec", "tls", "secretName")] = "kubernetes.io/tls ca.crt tls.crt tls.key"
			secrets[text("spec", "auth", "secretName")] = " users"
		case "ExternalSecret":
			secrets[text("spec", "target", "name")] = text("spec", "target", "template", "type") + keysOf(externalKeys(object))
		case "SealedSecret":
			keys, _, _ := unstructured.NestedMap(object, "spec", "encryptedData")
			name := text("spec", "template", "metadata", "name")
			secrets[name] = text("spec", "template", "type") + keysOf(slices.Collect(maps.Keys(keys)))
		}
	}
	if len(written["Memcached"]) != 2 {
		t.Fatalf("the Memcached reads %v", written["Memcached"])
	}
	for _, kind := range []string{"ExternalSecret", "SealedSecret"} {
		if diff := cmp.Diff(written["Memcached"], written[kind]); diff != "" {
			t.Errorf("%ss (-what the cache reads +what they write):\n%s", kind, diff)
		}
	}
}

func keysOf(keys []string) string {
	return " " + strings.Join(slices.Sorted(slices.Values(keys)), " ")
}

// externalKeys returns the keys that an ExternalSecret writes into the Secret. If its template has keys, the Secret
// gets only these keys.
func externalKeys(object map[string]any) []string {
	if data, _, _ := unstructured.NestedMap(object, "spec", "target", "template", "data"); len(data) > 0 {
		return slices.Collect(maps.Keys(data))
	}
	var keys []string
	data, _, _ := unstructured.NestedSlice(object, "spec", "data")
	for _, entry := range data {
		key, _, _ := unstructured.NestedString(entry.(map[string]any), "secretKey")
		keys = append(keys, key)
	}
	return keys
}
