package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/test/olm/standin"
)

const csvFile = "manifests/memcached-operator.clusterserviceversion.yaml"

// TestTheOperatorActsOnTheExamplesInTheBundle checks what operator-sdk's scorecard requires of a running operator: each
// example has a spec, the operator writes its status, and a change to the spec makes the operator write.
func TestTheOperatorActsOnTheExamplesInTheBundle(t *testing.T) {
	w := newSlotWorld(t)
	w.allow(rulesByName...)
	for _, object := range examples(t) {
		object.SetNamespace(w.namespace)
		w.Expect(object.Object).To(gomega.HaveKey("spec"), "spec exists for the custom resource")
		w.Expect(object.Object).NotTo(gomega.HaveKey("status"))
		w.Expect(cluster.Create(w.ctx, object, client.FieldValidation("Strict"))).To(gomega.Succeed())
		name := object.GetName()
		if object.GetKind() == "MemcachedSnapshot" { // Its spec cannot change, and its cache does not exist.
			w.snapshotReason(name, cachev1.ReasonMemcachedNotFound, "")
			continue
		}
		w.reason(name, cachev1.ReasonAllPodsReady)
		before := w.deployment(name).Generation

		w.Expect(cluster.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":1}}`)))).
			To(gomega.Succeed())
		eventually(w.world, name, &appsv1.Deployment{}, func(d *appsv1.Deployment) bool { return d.Generation > before })
		mc := eventually(w.world, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
			return mc.Status.ObservedGeneration == mc.Generation && mc.Status.Replicas == 1
		})
		w.Expect(mc.Generation).To(gomega.Equal(object.GetGeneration()))
	}
}

// examples are the custom resources in the annotation alm-examples.
func examples(t *testing.T) (objects []*unstructured.Unstructured) {
	t.Helper()
	var csv struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := yaml.Unmarshal([]byte(committedBundle(t)[csvFile]), &csv); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(csv.Metadata.Annotations["alm-examples"]), &objects); err != nil {
		t.Fatal(err)
	}
	if len(objects) == 0 {
		t.Fatal("the annotation alm-examples holds no example")
	}
	return objects
}

// TestWhatTheBundleHoldsIsTaken: the API server accepts the objects that OLM applies unchanged from the bundle.
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

// TestWhatOLMMakesOfTheBundleIsTaken: the API server accepts the objects that OLM creates from the
// ClusterServiceVersion.
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
