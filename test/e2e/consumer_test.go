//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/settings/consumer"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const consumerCaches = "memcached-caches"

// consumerFollowsByRef installs the operator from a repository that refers to this repository by URL and ref. An
// upgrade is a change to the ref, and replaces no Pod. This part of the test runs last, because it leaves nothing
// installed.
func (s *site) consumerFollowsByRef(t *testing.T) {
	soak.Only(t, "the rendered tree, in test/gitops")
	s.deleteRoot(t)
	first := s.head(t)
	config := s.writeConsumer(t, first)
	s.applyFile(t, filepath.Join(config, "bootstrap.yaml"))
	s.consumerHealthy(t, config, first)
	before := s.pods(t, "caches", "sessions")
	if len(before) != 1 {
		t.Errorf("Pods of the cache: %v", before)
	}

	second := s.commit(t, "more retries", func(dir string) error {
		const policy = "gitops/settings/policy.yaml"
		return worktree.Place{File: policy, Find: `limit: (\d+)`}.Write(dir, "9")
	})
	if err := (worktree.Place{File: "kustomization.yaml", Find: `\?ref=(\S+)`}).Write(config, second); err != nil {
		t.Fatal(err)
	}
	pushConsumer(t, config)
	s.consumerHealthy(t, config, second)
	if diff := cmp.Diff(before, s.pods(t, "caches", "sessions")); diff != "" {
		t.Errorf("Pods of the cache over an upgrade (-before +after):\n%s", diff)
	}
	s.deleteRoot(t)
	newGomega(t).Eventually(func() (string, error) {
		application, err := s.Application(t.Context(), consumerCaches)
		return application.Health, err
	}).Should(gomega.Equal("Missing"))
}

// writeConsumer makes a work tree, and the Git repository that it is pushed to, next to the repository of the cluster.
func (s *site) writeConsumer(t *testing.T, ref string) string {
	t.Helper()
	repository := filepath.Join(filepath.Dir(strings.TrimPrefix(s.Repo, "file://")), "config.git")
	config := filepath.Join(t.TempDir(), "config")
	r := consumer.Repository{Choices: s.Choices, Method: string(pipeline.Direct), Upstream: s.Repo, Ref: ref}
	r.Repo, r.Version = "file://"+repository, "0.1.0"
	if err := r.Write(s.Git.Dir, config); err != nil {
		t.Fatal(err)
	}
	tree.Write(t, config, map[string]string{"caches/sessions.yaml": "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: sessions}\nspec: {size: 1}\n"})
	tree.Git(t, config, "init", "--quiet", "--initial-branch", r.Revision)
	tree.Git(t, config, "init", "--quiet", "--bare", "--initial-branch", r.Revision, repository)
	tree.Git(t, config, "remote", "add", "origin", r.Repo)
	pushConsumer(t, config)
	return config
}

func pushConsumer(t *testing.T, config string) {
	t.Helper()
	tree.Git(t, config, "add", "--all")
	tree.Git(t, config, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "x")
	tree.Git(t, config, "push", "--quiet", "origin", "HEAD")
}

func (s *site) applyFile(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := utils.ReadObjects(bytes.NewReader(content))
	if err == nil {
		err = s.Apply(t.Context(), objects)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// consumerHealthy waits until Argo CD has synced both repositories: the consumer's at its head, and this repository at
// the ref.
func (s *site) consumerHealthy(t *testing.T, config, ref string) {
	t.Helper()
	head := tree.Git(t, config, "rev-parse", "HEAD")
	g := newGomega(t)
	for name, revision := range map[string]string{
		pipeline.RootApplication: head, consumerCaches: head, pipeline.OperatorApplication: ref,
	} {
		refreshed := false
		g.Eventually(func(g gomega.Gomega) {
			application, err := s.Application(t.Context(), name)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			if !refreshed && application.Revision != "" && application.Revision != revision {
				o := object("argoproj.io/v1alpha1", "Application", name)
				o.SetNamespace(argoNamespace)
				refresh := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`))
				refreshed = s.Client.Patch(t.Context(), o, refresh) == nil
			}
			g.Expect(application.Healthy(revision)).To(gomega.BeTrue(), "%s, at %s", application, application.Revision)
		}).Should(gomega.Succeed())
	}
}
