//go:build e2e

package helm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	oldVersion, newVersion = "0.1.0-e2e", "0.2.0-e2e"
)

// TestCachesOutliveWhatHelmDoes installs, changes and uninstalls a release, and checks the same cache after each step.
// Each step begins with the result of the step before.
func TestCachesOutliveWhatHelmDoes(t *testing.T) {
	s := newSite(t)
	older, newer := s.chart(t, oldVersion), s.chart(t, newVersion)

	t.Run("an install refuses a CRD that something else has installed", func(t *testing.T) { s.refusesForeignCRD(t, older) })
	s.install(t, older, "")
	s.assertServed(t, oldVersion, 1)
	cache := s.hold(t)

	steps := []struct {
		name    string
		act     func(t *testing.T)
		version string // expected version of the operator and of the CRD
	}{
		{"other values", func(t *testing.T) { s.upgrade(t, older, "{replicas: 2, resources: {limits: {memory: 300Mi}}}") }, oldVersion},
		{"another version", func(t *testing.T) { s.upgrade(t, newer, "replicas: 2") }, newVersion},
		{"a rollback to the first revision", func(t *testing.T) { s.rollback(t, 1) }, oldVersion},
		{"an upgrade that leaves the CRD to others", func(t *testing.T) { s.upgrade(t, newer, "crds: {install: false}") }, newVersion},
		// With no value at all, Helm would reuse the values of the last revision.
		{"an upgrade that takes the CRD back", func(t *testing.T) { s.upgrade(t, newer, "crds: {install: true}") }, newVersion},
		{"an uninstall and a second install", func(t *testing.T) {
			s.uninstall(t)
			s.assertUninstalled(t)
			cache.still(t)
			s.install(t, newer, "")
		}, newVersion},
	}
	size := int32(1)
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			step.act(t)
			size = 3 - size // 1 and 2 alternately, so that the operator has something to do
			s.assertServed(t, step.version, size)
			cache.still(t)
		})
	}
}

// refusesForeignCRD creates the CRD as kubectl would, checks that the install fails, and deletes the CRD again.
func (s *site) refusesForeignCRD(t *testing.T, path string) {
	foreign := &unstructured.Unstructured{Object: mustTemplate(t, load(t, path), "")[crd]}
	foreign.SetLabels(nil) // Without these labels, no release owns the CRD.
	if err := s.Client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	err := s.tryInstall(t, path, "")
	for _, want := range []string{"memcacheds.cache.example.com", "invalid ownership metadata"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the install ends with %v, want %q in it", err, want)
		}
	}
	if err := s.Client.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	s.awaitGone(t, foreign)
}

// assertServed checks that the operator of a version serves caches. If the release contains the CRD, it checks the
// version of the CRD, too.
func (s *site) assertServed(t *testing.T, version string, size int32) {
	t.Helper()
	pods := &corev1.PodList{}
	err := s.Client.List(t.Context(), pods,
		client.InNamespace(namespace), client.MatchingLabels{"control-plane": "controller-manager"})
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]bool{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp.IsZero() {
			images[pod.Spec.Containers[0].Image] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{s.operators[version]: true}, images); diff != "" {
		t.Errorf("images of the operator (-want +got):\n%s", diff)
	}
	s.apply(t, "another", size)
	if _, brings := decode(t, s.release.Manifest)[crd]; brings {
		if got := s.liveCRD(t).Labels["app.kubernetes.io/version"]; got != version {
			t.Errorf("the CRD is of version %q, want %s", got, version)
		}
	}
}

// assertUninstalled checks that only the CRDs of the chart are left.
func (s *site) assertUninstalled(t *testing.T) {
	t.Helper()
	left := []string{}
	for id, object := range decode(t, s.release.Manifest) {
		if s.exists(t, object) {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	if diff := cmp.Diff([]string{crd, "CustomResourceDefinition//memcachedsnapshots.cache.example.com"}, left); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if crd := s.liveCRD(t); !crd.DeletionTimestamp.IsZero() {
		t.Error("the CRD is being deleted")
	}
}
