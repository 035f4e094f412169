package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

func TestTheFluxPageNamesObjectsThatItHas(t *testing.T) {
	objects, err := fluxObjects(repository)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"GitRepository flux-system"} // Flux's bootstrap creates it.
	for _, object := range objects {
		names = append(names, object.Object.GetKind()+" "+object.Object.GetName())
	}
	for where, spec := range pageKustomizations(t) {
		needed := []string{spec.SourceRef.Kind + " " + spec.SourceRef.Name}
		for _, other := range spec.DependsOn {
			needed = append(needed, "Kustomization "+other.Name)
		}
		for _, name := range needed {
			if !slices.Contains(names, name) {
				t.Errorf("%s: there is no %s", where, name)
			}
		}
	}
}

// TestTheOverlayOfTheFluxPageBuilds does the same as Flux: it adds the images and patches of a Kustomization to the
// overlay in its path. The manifest of a release, which the OCI artifact contains, is built from the same overlay.
func TestTheOverlayOfTheFluxPageBuilds(t *testing.T) {
	paths := map[string]string{
		"GitRepository memcached-operator":           "",
		"OCIRepository memcached-operator-manifests": "overlays/multiarch",
	}
	for where, spec := range pageKustomizations(t) {
		source := spec.SourceRef.Kind + " " + spec.SourceRef.Name
		path, installs := paths[source]
		if !installs {
			continue
		}
		delete(paths, source)
		if path == "" {
			path = spec.Path
		}
		t.Run(where, func(t *testing.T) { assertInstalls(t, path, spec) })
	}
	if len(paths) > 0 {
		t.Errorf("no Kustomization has the source %v", paths)
	}
}

// unreleased is the beginning of the image names in the manifests. A release replaces them by names in another
// registry. The page is for users of the repository without a release.
const unreleased = " registry.example.com/memcached-"

func assertInstalls(t *testing.T, path string, spec kustomization) {
	t.Helper()
	objects := asFlux(t, path, spec)
	for _, object := range objects {
		pruned := object.GetAnnotations()["kustomize.toolkit.fluxcd.io/prune"] != "disabled"
		if object.GetKind() == "CustomResourceDefinition" && pruned {
			t.Errorf("Flux deletes %s if the Kustomization is deleted, and this deletes all Memcacheds", object.GetName())
		}
	}
	manifests := spelled(t, objects)
	images := spec.Images
	spec.Images = nil
	if len(images) == 0 || !strings.Contains(spelled(t, asFlux(t, path, spec)), unreleased) {
		return
	}
	if strings.Contains(manifests, unreleased) {
		t.Errorf("an image of %q is not replaced", unreleased)
	}
	for _, image := range images {
		if !strings.Contains(manifests, image.NewName+":"+image.NewTag) {
			t.Errorf("%s is not replaced by %s:%s", image.Name, image.NewName, image.NewTag)
		}
	}
}

func spelled(t *testing.T, objects []*unstructured.Unstructured) (manifests string) {
	t.Helper()
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		manifests += string(text)
	}
	return manifests
}

// asFlux builds the objects that Flux applies.
func asFlux(t *testing.T, path string, spec kustomization) []*unstructured.Unstructured {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := filepath.Abs(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	if overlay, err = filepath.Rel(dir, overlay); err != nil { // kustomize refuses an absolute path.
		t.Fatal(err)
	}
	content, err := yaml.Marshal(map[string]any{
		"resources": []string{overlay}, "images": spec.Images, "patches": spec.Patches,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := kustomize.Objects(dir)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestFluxWaitsForMemcacheds: without the health check expressions, kstatus takes a Memcached without a status for
// ready. The page says so.
func TestFluxWaitsForMemcacheds(t *testing.T) {
	health, err := FluxHealth(repository)
	if err != nil {
		t.Fatal(err)
	}
	is := func(kind, value string) any { return map[string]any{"type": kind, "status": value} }
	const current, inProgress, failed = status.CurrentStatus, status.InProgressStatus, status.FailedStatus
	tests := map[string]struct {
		observed   int64
		conditions []any
		bare, want status.Status
	}{
		"ready":       {2, []any{is("Ready", "True")}, current, current},
		"rolling out": {2, []any{is("Ready", "False"), is("Reconciling", "True")}, inProgress, inProgress},
		"stalled":     {2, []any{is("Ready", "False"), is("Stalled", "True")}, failed, failed},
		"ready before the last change of the spec":   {1, []any{is("Ready", "True")}, inProgress, inProgress},
		"stalled before the last change of the spec": {1, []any{is("Stalled", "True")}, inProgress, inProgress},
		"without a status":                           {0, nil, current, status.UnknownStatus},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": cachev1.GroupVersion.String(), "kind": "Memcached",
				"metadata": map[string]any{"name": "cache", "generation": int64(2)},
			}}
			if tc.observed > 0 {
				object.Object["status"] = map[string]any{"observedGeneration": tc.observed, "conditions": tc.conditions}
			}
			bare, err := status.Compute(object)
			if err != nil || bare.Status != tc.bare {
				t.Errorf("kstatus: %v (%v), want %s", bare, err, tc.bare)
			}
			got := status.UnknownStatus // Flux continues to wait after an error.
			if result, err := health.Evaluate(t.Context(), object); err == nil {
				got = result.Status
			}
			if got != tc.want {
				t.Errorf("health check expressions: %s, want %s", got, tc.want)
			}
		})
	}
}

func pageKustomizations(t *testing.T) map[string]kustomization {
	t.Helper()
	found, err := kustomizations(repository)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
