//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/chain"
)

func newGomega(t *testing.T) *gomega.WithT {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	return g
}

// commit changes the repository that Argo CD follows, and returns the commit.
func commit(t *testing.T, message string, change func(dir string) error) string {
	t.Helper()
	hash, err := c.Git.Commit(t.Context(), message, change)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// commitCache puts a Memcached with the given spec into Git.
func commitCache(t *testing.T, name, spec string) string {
	t.Helper()
	return commit(t, fmt.Sprintf("%s: %s", name, spec), func(dir string) error {
		manifest := "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
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
	})
}

// removeCache takes a Memcached out of Git.
func removeCache(t *testing.T, name string) string {
	t.Helper()
	return commit(t, "Remove "+name, func(dir string) error {
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
func healthy(t *testing.T, commit string) {
	t.Helper()
	err := c.WaitHealthy(t.Context(), commit, patience, func(string) {},
		chain.OperatorApplication, chain.SamplesApplication, chain.RootApplication)
	if err != nil {
		t.Fatal(err)
	}
}

func memcached(t *testing.T, name string) *cachev1.Memcached {
	t.Helper()
	mc := &cachev1.Memcached{}
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, mc); err != nil {
		t.Fatal(err)
	}
	return mc
}

// nodes returns the uids of the cache's Pods that are not being deleted, by name.
func nodes(t *testing.T, namespace, name string) map[string]types.UID {
	t.Helper()
	pods := &corev1.PodList{}
	err := c.Client.List(t.Context(), pods,
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

// storeKeys lets a client set keys, hashed over the nodes that the Service's name resolves to.
func storeKeys(t *testing.T, name string, keys int) chain.Keys {
	t.Helper()
	return runClient(t, "set", name, keys)
}

// readKeys lets another, newly started client read them.
func readKeys(t *testing.T, name string, keys int) chain.Keys {
	t.Helper()
	return runClient(t, "get", name, keys)
}

func runClient(t *testing.T, verb, name string, keys int) chain.Keys {
	t.Helper()
	result, err := c.RunClient(t.Context(), namespace, images.Client, verb,
		"--endpoint="+memcached(t, name).Status.Endpoint, fmt.Sprintf("--keys=%d", keys))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// applicationSays waits until an Application tells of something.
func applicationSays(t *testing.T, name, words string) {
	t.Helper()
	var last chain.Application
	newGomega(t).Eventually(func() string {
		var err error
		if last, err = c.Application(t.Context(), name); err != nil {
			return err.Error()
		}
		return strings.Join(last.Messages, "\n")
	}).Should(gomega.ContainSubstring(words), "last seen: %s", last)
}
