//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

func newGomega(t *testing.T) *gomega.WithT {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(500 * time.Millisecond)
	return g
}

// commit changes the repository that Argo CD follows, and returns the commit.
func (s *site) commit(t *testing.T, message string, change func(dir string) error) string {
	t.Helper()
	hash, err := s.Git.Commit(t.Context(), message, change)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// head is the commit that Argo CD follows.
func (s *site) head(t *testing.T) string {
	t.Helper()
	head, err := s.Git.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// commitCache puts a Memcached with the given spec into Git.
func (s *site) commitCache(t *testing.T, name, spec string) string {
	t.Helper()
	manifest := "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
	return s.commit(t, fmt.Sprintf("%s: %s", name, spec), func(dir string) error { return addManifest(dir, name, manifest) })
}

// addManifest puts a manifest next to the samples.
func addManifest(dir, name, manifest string) error {
	err := os.WriteFile(filepath.Join(dir, "gitops/samples", name+".yaml"), []byte(manifest), 0o644)
	if err != nil {
		return err
	}
	return editResources(dir, func(resources []string) []string {
		if slices.Contains(resources, name+".yaml") {
			return resources
		}
		return append(resources, name+".yaml")
	})
}

// removeCache takes a Memcached out of Git.
func (s *site) removeCache(t *testing.T, name string) string {
	t.Helper()
	return s.commit(t, "Remove "+name, func(dir string) error {
		if err := os.Remove(filepath.Join(dir, "gitops/samples", name+".yaml")); err != nil {
			return err
		}
		return editResources(dir, func(resources []string) []string {
			return slices.DeleteFunc(resources, func(r string) bool { return r == name+".yaml" })
		})
	})
}

func editResources(dir string, edit func([]string) []string) error {
	path := filepath.Join(dir, "gitops/samples/kustomization.yaml")
	kustomization, err := yaml.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := kustomization.Pipe(yaml.Lookup("resources"))
	if err != nil {
		return err
	}
	resources, err := list.ElementValues("")
	if err != nil || len(resources) == 0 {
		resources = nil
		for _, node := range list.Content() {
			resources = append(resources, node.Value)
		}
	}
	err = kustomization.PipeE(yaml.SetField("resources", yaml.NewListRNode(edit(resources)...)))
	if err != nil {
		return err
	}
	return yaml.WriteFile(kustomization, path)
}

// healthy waits until Argo CD has synced a commit and found all of it healthy.
func (s *site) healthy(t *testing.T, commit string) {
	t.Helper()
	s.healthyWithin(t, commit, patience)
}

func (s *site) healthyWithin(t *testing.T, commit string, timeout time.Duration) {
	t.Helper()
	err := s.WaitHealthy(t.Context(), commit, timeout, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *site) memcached(t *testing.T, name string) *cachev1.Memcached {
	t.Helper()
	mc := &cachev1.Memcached{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, mc); err != nil {
		t.Fatal(err)
	}
	return mc
}

// pods returns the uids of the cache's Pods that are not being deleted, by name.
func (s *site) pods(t *testing.T, namespace, name string) map[string]types.UID {
	t.Helper()
	pods := &corev1.PodList{}
	err := s.Client.List(t.Context(), pods,
		client.InNamespace(namespace), client.MatchingLabels{"app": "memcached", "memcached_cr": name})
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp.IsZero() {
			uids[pod.Name] = pod.UID
		}
	}
	return uids
}

func names(pods map[string]types.UID) []string { return slices.Sorted(maps.Keys(pods)) }

// storeKeys makes a client store keys. The client distributes them, by a hash, over the Pods to which the Service's
// name resolves.
func (s *site) storeKeys(t *testing.T, name string, keys int) clientpod.Keys {
	t.Helper()
	return s.runClient(t, "set", name, keys)
}

// readKeys makes another, newly started client read the keys that storeKeys has stored.
func (s *site) readKeys(t *testing.T, name string, keys int) clientpod.Keys {
	t.Helper()
	return s.runClient(t, "get", name, keys)
}

func (s *site) runClient(t *testing.T, verb, name string, keys int) clientpod.Keys {
	t.Helper()
	result, err := deployed.RunClient(t.Context(), s.Pipeline, namespace, s.images.Client,
		append(clientpod.Reach(s.memcached(t, name)), verb, fmt.Sprintf("--keys=%d", keys))...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// assertGone waits until a cache and its managed objects are deleted.
func (s *site) assertGone(t *testing.T, name string) {
	t.Helper()
	g := newGomega(t)
	key := client.ObjectKey{Namespace: namespace, Name: name}
	for _, object := range []client.Object{&cachev1.Memcached{}, &appsv1.Deployment{}, &corev1.Service{}} {
		g.Eventually(func() bool { return apierrors.IsNotFound(s.Client.Get(t.Context(), key, object)) }).
			Should(gomega.BeTrue(), "%T is deleted", object)
	}
	g.Eventually(func() int { return len(s.pods(t, namespace, name)) }).Should(gomega.BeZero())
}

// applicationSays waits until an Application reports these words. Argo CD may take a long time to report errors of the
// repository, because such errors often end soon.
func (s *site) applicationSays(t *testing.T, name, words string) {
	t.Helper()
	var last pipeline.Application
	newGomega(t).Eventually(func() string {
		var err error
		if last, err = s.Application(t.Context(), name); err != nil {
			return err.Error()
		}
		return strings.Join(last.Messages, "\n")
	}).WithTimeout(2*patience).Should(gomega.ContainSubstring(words), "last seen: %s", &last)
}

// listen collects the errors that an Application reports from now on, because it reports some of them only for a
// moment.
func (s *site) listen(t *testing.T, name string) (said func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	events, err := s.Client.Watch(ctx, applicationList(), client.InNamespace(argoNamespace),
		client.MatchingFields{"metadata.name": name})
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	var all strings.Builder
	go func() {
		for event := range events.ResultChan() {
			mutex.Lock()
			if application, ok := event.Object.(*unstructured.Unstructured); ok {
				conditions, _, _ := unstructured.NestedSlice(application.Object, "status", "conditions")
				message, _, _ := unstructured.NestedString(application.Object, "status", "operationState", "message")
				fmt.Fprintln(&all, conditions, message)
			}
			mutex.Unlock()
		}
	}()
	return func() string {
		mutex.Lock()
		defer mutex.Unlock()
		return all.String()
	}
}
