package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/test/olm/standin"
)

const csvFile = "manifests/memcached-operator.clusterserviceversion.yaml"

func TestTheExamplesInTheBundleAreTaken(t *testing.T) {
	files := committedBundle(t)
	var csv struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := yaml.Unmarshal([]byte(files[csvFile]), &csv); err != nil {
		t.Fatal(err)
	}
	var examples []map[string]any
	if err := json.Unmarshal([]byte(csv.Metadata.Annotations["alm-examples"]), &examples); err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		object := &unstructured.Unstructured{Object: example}
		object.SetNamespace("default")
		if err := cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// TestWhatTheBundleHoldsIsTaken asks the API server for what OLM takes from the bundle as it is.
func TestWhatTheBundleHoldsIsTaken(t *testing.T) {
	for file, content := range committedBundle(t) {
		if !strings.HasPrefix(file, "manifests/") || file == csvFile {
			continue
		}
		t.Run(file, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(content), object); err != nil {
				t.Fatal(err)
			}
			if object.GetKind() == "Service" {
				object.SetNamespace("default")
			}
			err := cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
				client.DryRunAll, client.FieldOwner("olm"), client.ForceOwnership)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWhatOLMMakesOfTheBundleIsTaken asks the API server for what OLM makes of the ClusterServiceVersion.
func TestWhatOLMMakesOfTheBundleIsTaken(t *testing.T) {
	objects, err := standin.Installation{Namespace: "default", Targets: []string{"kube-public"}}.Objects(committedBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%T %s: %v", object, object.GetName(), err)
		}
	}
}

func committedBundle(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Read(repository + "/" + bundle.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
