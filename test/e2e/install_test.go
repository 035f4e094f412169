//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

// sample is the name of the Memcached in the tree.
const sample = "memcached-sample"

// installAndChange installs the tree on an empty cluster, and then changes one line.
func (s *site) installAndChange(t *testing.T) {
	s.install(t)
	s.healthy(t, s.head(t))
	s.assertReady(t, sample, 3)
	s.assertSamplesWaitedForTheOperator(t)
	s.storeKeys(t, sample, keys)
	if got := s.readKeys(t, sample, keys); got.Found != keys || len(got.Nodes) != 3 {
		t.Errorf("a second client finds %d of %d keys on %v, want three Pods", got.Found, keys, got.Nodes)
	}

	s.healthy(t, s.commit(t, "Four Pods", func(tree string) error { return resizeSample(tree, 4) }))
	s.assertReady(t, sample, 4)
}

// resizeSample changes the size of the sample, which is one line.
func resizeSample(tree string, size int) error {
	path := filepath.Join(tree, "gitops/samples/kustomization.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), "value: ")
	_, after, _ := strings.Cut(rest, "\n")
	if !found {
		return fmt.Errorf("%s sets no size", path)
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%svalue: %d\n%s", before, size, after), 0o644)
}

// assertSamplesWaitedForTheOperator compares the times that the cluster itself recorded.
func (s *site) assertSamplesWaitedForTheOperator(t *testing.T) {
	t.Helper()
	manager := s.manager(t)
	samples := object("argoproj.io/v1alpha1", "Application", pipeline.SamplesApplication)
	samples.SetNamespace(argoNamespace)
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(samples), samples); err != nil {
		t.Fatal(err)
	}
	for _, condition := range manager.Status.Conditions {
		if condition.Type != appsv1.DeploymentAvailable {
			continue
		}
		if condition.Status != corev1.ConditionTrue || condition.LastTransitionTime.After(samples.GetCreationTimestamp().Time) {
			t.Errorf("the Application of the samples was made at %s, the operator is available: %s since %s",
				samples.GetCreationTimestamp(), condition.Status, condition.LastTransitionTime)
		}
		return
	}
	t.Errorf("the operator's Deployment does not say whether it is available: %v", manager.Status.Conditions)
}

// rootWaitsForEachCache adds a cache whose image does not exist. Then the root Application must not be healthy,
// although everything except this cache is.
func (s *site) rootWaitsForEachCache(t *testing.T) {
	g := newGomega(t)
	missing := s.Cluster.Image("memcached", "missing")
	bad := s.commitCache(t, "waits", fmt.Sprintf("{size: 1, image: %q}", missing))
	g.Eventually(func() string { return s.state(t, pipeline.SamplesApplication, bad) }).Should(gomega.Equal("Synced Progressing"))
	g.Eventually(func() string { return s.state(t, pipeline.RootApplication, bad) }).Should(gomega.Equal("Synced Progressing"))
	g.Consistently(func() string { return s.state(t, pipeline.RootApplication, bad) }, "5s").
		Should(gomega.Equal("Synced Progressing"))
	if got, want := s.state(t, pipeline.OperatorApplication, bad), "Synced Healthy"; got != want {
		t.Errorf("the operator's Application is %s, want %s", got, want)
	}

	s.healthy(t, s.commitCache(t, "waits", "{size: 1}"))
	s.assertReady(t, "waits", 1)
	s.healthy(t, s.removeCache(t, "waits"))
	s.assertGone(t, "waits")
}

// state returns the sync and health status of an Application, if it has already compared this commit.
func (s *site) state(t *testing.T, name, commit string) string {
	t.Helper()
	application, err := s.Application(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if application.Revision != commit {
		return "at another commit"
	}
	return application.Sync + " " + application.Health
}

func (s *site) manager(t *testing.T) *appsv1.Deployment {
	t.Helper()
	manager := &appsv1.Deployment{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: operatorName}, manager); err != nil {
		t.Fatal(err)
	}
	return manager
}

// assertReady checks that a Memcached is ready, and that status.nodes lists its Pods.
func (s *site) assertReady(t *testing.T, name string, size int) {
	t.Helper()
	mc := s.memcached(t, name)
	if !isReady(mc) || int(mc.Status.ReadyReplicas) != size {
		t.Errorf("%s is not ready with %d Pods: %+v", name, size, mc.Status)
	}
	if diff := cmp.Diff(names(s.pods(t, namespace, name)), mc.Status.Nodes); diff != "" {
		t.Errorf("status.nodes (-Pods +status):\n%s", diff)
	}
}

func isReady(mc *cachev1.Memcached) bool {
	for _, condition := range mc.Status.Conditions {
		if condition.Type == cachev1.ConditionReady {
			return condition.Status == metav1.ConditionTrue && mc.Status.ObservedGeneration == mc.Generation
		}
	}
	return false
}
