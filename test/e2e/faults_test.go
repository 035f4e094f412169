//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

// retries is how long Argo CD may retry a commit that it can't apply, before it syncs the next one.
const retries = 5 * time.Minute

// badCommitsBreakNothing pushes a bad commit for each step at which Argo CD may fail: when it compares existing objects
// with Git, when it creates new ones, and before both, when it builds the manifests.
func (s *site) badCommitsBreakNothing(t *testing.T) {
	fewer := s.commit(t, "Fewer retries", fewerRetries)
	s.healthy(t, s.commitCache(t, "story", "{size: 2}"))
	holds := s.holds(t, "story")
	bad := []struct {
		name   string
		commit func(*testing.T) string
		says   []string
		forgot bool // Argo CD may report the previous commit from its cache.
	}{
		{"a Memcached becomes invalid", func(t *testing.T) string {
			return s.commitCache(t, "story", "{size: -1}")
		}, []string{"spec.size", "should be greater than or equal to 0"}, true},
		{"a new Memcached is invalid", func(t *testing.T) string {
			return s.commitCache(t, "invalid", "{size: -1}")
		}, []string{"spec.size", "should be greater than or equal to 0"}, false},
		{"a kustomization does not build", func(t *testing.T) string {
			return s.commit(t, "A file that is not there", func(dir string) error {
				return editResources(dir, func(resources []string) []string { return append(resources, "missing.yaml") })
			})
		}, []string{"missing.yaml"}, false},
	}
	for i, tc := range bad {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "a new Memcached is invalid" {
				soak.Only(t, "the other bad commits")
			}
			said := s.listen(t, pipeline.SamplesApplication)
			commit := tc.commit(t)
			g := newGomega(t)
			for _, words := range tc.says {
				g.Eventually(said).WithTimeout(2 * patience).Should(gomega.ContainSubstring(words))
			}
			if !tc.forgot {
				g.Eventually(func() string { return s.state(t, pipeline.RootApplication, commit) }).
					Should(gomega.Equal("Synced Progressing"))
			}
			holds.still(t)

			s.revert(t, commit)
			good := s.commitCache(t, "good", fmt.Sprintf("{maxConnections: %d}", 512+i)) // a change that Argo CD has to sync
			s.healthyWithin(t, good, retries)
			holds.still(t)
		})
	}
	s.removeCache(t, "good")
	s.removeCache(t, "story")
	s.healthy(t, s.revert(t, fewer))
	s.assertGone(t, "story")
}

// fewerRetries reduces the number of retries, so that Argo CD syncs the next commit after 15 seconds of retries instead
// of four minutes.
func fewerRetries(dir string) error {
	path := filepath.Join(dir, "gitops/settings/policy.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := strings.Replace(string(content), "limit: 8", "limit: 2", 1)
	if changed == string(content) {
		return fmt.Errorf("%s limits no retries", path)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// droppedByMistake removes those objects from Git whose deletion would delete all caches.
func (s *site) droppedByMistake(t *testing.T) {
	g := newGomega(t)
	holds := s.holds(t, sample)
	kept := []client.Object{object("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd), object("v1", "Namespace", namespace)}
	uids := s.uids(t, kept)
	mistake := s.commit(t, "Neither CRD nor namespace", func(dir string) error {
		return errors.Join(dropCRD(dir), editResources(dir, func(resources []string) []string {
			return slices.DeleteFunc(resources, func(r string) bool { return r == "namespace.yaml" })
		}))
	})
	g.Eventually(func() string { return s.syncs(t)[pipeline.SamplesApplication] }).
		Should(gomega.HavePrefix("Succeeded of " + mistake))
	g.Eventually(func() string { return s.state(t, pipeline.OperatorApplication, mistake) }).Should(gomega.HaveSuffix("Healthy"))
	g.Consistently(func() map[string]types.UID { return s.uids(t, kept) }, atRest, "1s").Should(gomega.Equal(uids))
	holds.still(t)
	s.healthy(t, s.revert(t, mistake))
}

func dropCRD(dir string) error {
	path := filepath.Join(dir, "gitops/operator/direct/kustomization.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const patch = "patches:\n  - target: {kind: CustomResourceDefinition}\n    patch: |-\n" +
		"      {$patch: delete, apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: any}}\n"
	return os.WriteFile(path, append(content, patch...), 0o644)
}

// gitIsOutOfReach makes the repository unreachable for half a minute. Argo CD needs only a small part of that time to
// notice it.
func (s *site) gitIsOutOfReach(t *testing.T) {
	holds := s.holds(t, sample)
	repository := strings.TrimPrefix(s.Repo, "file://")
	away := repository + ".away"
	if err := os.Rename(repository, away); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Rename(away, repository) })
	gone := time.Now()
	for _, name := range applications {
		s.applicationSays(t, name, "failed to list refs")
	}
	g := newGomega(t)
	g.Consistently(func(g gomega.Gomega) {
		g.Expect(s.pods(t, namespace, sample)).To(gomega.Equal(holds.pods))
		for _, name := range applications {
			application, err := s.Application(t.Context(), name)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(application.Sync).NotTo(gomega.BeEmpty(), "the Application is there")
		}
	}, max(time.Until(gone.Add(time.Minute/2)), atRest), "1s").Should(gomega.Succeed())
	holds.still(t)

	if err := os.Rename(away, repository); err != nil {
		t.Fatal(err)
	}
	s.healthy(t, s.head(t))
	g.Eventually(func(g gomega.Gomega) {
		for _, name := range applications {
			application, err := s.Application(t.Context(), name)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(application.Messages).To(gomega.BeEmpty())
		}
	}).Should(gomega.Succeed())
	s.healthy(t, s.commitCache(t, "afterwards", "{size: 1}"))
	s.healthy(t, s.removeCache(t, "afterwards"))
	holds.still(t)
}

// repoServerIsKilled kills Argo CD's repo-server while caches are created one after the other, and again each time that
// it has restarted, because a single restart is over before Argo CD notices it.
func (s *site) repoServerIsKilled(t *testing.T) {
	soak.Only(t, "the chapter in which Git is out of reach")
	const part = "argocd-repo-server"
	g := newGomega(t)
	holds := s.holds(t, sample)
	caches := []string{"first", "second", "third"}
	commit := s.commit(t, "Three caches, one after the other", func(dir string) error {
		for wave, name := range caches {
			manifest := fmt.Sprintf("apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata:\n  name: %s\n"+
				"  annotations: {argocd.argoproj.io/sync-wave: %q}\nspec: {size: 1, rollout: {minReadySeconds: 5}}\n",
				name, fmt.Sprint(wave))
			if err := addManifest(dir, name, manifest); err != nil {
				return err
			}
		}
		return nil
	})
	g.Eventually(func() error { return s.find(t, caches[0]) }).Should(gomega.Succeed())
	last := 0
	for kill := range 3 {
		g.Eventually(func() int { return s.pid(t, part) }).ShouldNot(gomega.BeElementOf(0, last))
		last = s.pid(t, part)
		g.Expect(s.Cluster.Kill(part)).To(gomega.Succeed())
		if err := s.find(t, caches[2]); kill == 0 && !apierrors.IsNotFound(err) {
			t.Errorf("the sync was over before the repo-server was killed: %v", err)
		}
	}
	s.healthy(t, commit)
	g.Expect(s.pid(t, part)).NotTo(gomega.BeElementOf(0, last), "the repo-server runs again")
	for _, name := range caches {
		s.assertReady(t, name, 1)
		s.removeCache(t, name)
	}
	s.healthy(t, s.head(t))
	holds.still(t)
}

func (s *site) find(t *testing.T, cache string) error {
	t.Helper()
	return s.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: cache}, &cachev1.Memcached{})
}

func (s *site) pid(t *testing.T, name string) int {
	t.Helper()
	parts, err := s.Cluster.Parts()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(parts, func(part local.Part) bool { return part.Name == name })
	if i < 0 {
		t.Fatalf("no part %s in %v", name, parts)
	}
	return parts[i].Pid
}
