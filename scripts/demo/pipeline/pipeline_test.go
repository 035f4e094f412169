package pipeline

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// newPipeline returns a pipeline whose API server accepts everything, and whose registry and Git repository are empty.
func newPipeline(t *testing.T, method Method, objects ...client.Object) *Pipeline {
	t.Helper()
	it := gomega.NewWithT(t)
	images := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(images.Close)
	root, err := builds.Root()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	now, err := values.Read(root)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	p := &Pipeline{Root: root, Target: Target{method, values.Choices{
		Registry: strings.TrimPrefix(images.URL, "http://") + "/team", Repo: bare(t),
		Architecture: "arm64", ArgoCDNamespace: "gitops", MemcachedImage: "r.example.org/memcached:1",
	}}}
	it.Expect(p.Complete(now)).To(gomega.Succeed())
	p.Client = fake.NewClientBuilder().WithObjects(objects...).Build()
	p.Git, err = Open(t.Context(), p.Repo, p.Revision, filepath.Join(t.TempDir(), "clone"))
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(p.Replace(p.Git.Dir)).To(gomega.Succeed())
	return p
}

func TestImagesAndManifestsForOLMArePublished(t *testing.T) {
	it := gomega.NewWithT(t)
	p := newPipeline(t, OLM)
	var programs []v1.ImageIndex
	for range programNames {
		index, err := random.Index(64, 1, 1)
		it.Expect(err).NotTo(gomega.HaveOccurred())
		programs = append(programs, index)
	}
	images, err := p.push(t.Context(), programs, func(string) {})
	it.Expect(err).NotTo(gomega.HaveOccurred())
	commit, err := p.Publish(t.Context(), "Install", images)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	if again, err := p.Publish(t.Context(), "Install", images); err != nil || again != commit {
		t.Errorf("the same content is another commit: %s, %s, %v", commit, again, err)
	}

	clone, err := Open(t.Context(), p.Repo, Branch, filepath.Join(t.TempDir(), "clone"))
	it.Expect(err).NotTo(gomega.HaveOccurred())
	got, err := values.Read(clone.Dir)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	want := values.Settings{
		RepoURL: p.Repo, Revision: Branch, ArgoCDNamespace: "gitops", Architecture: "arm64",
		OperatorImage: images.Operator, AgentImage: images.Agent, MemcachedImage: "r.example.org/memcached:1", CatalogImage: images.Catalog,
		SnapshotImage: p.SnapshotRef(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings in Git (-want +got):\n%s", diff)
	}
	for file, parts := range map[string][]string{
		"bundle/manifests/memcached-operator.clusterserviceversion.yaml": {images.Operator, images.Agent, "r.example.org/memcached:1"},
		"bundle/catalog/memcached-operator/catalog.yaml":                 {p.Registry + "/memcached-operator-bundle@sha256:", "memcached-operator.v" + Version},
	} {
		content := page.Read(t, filepath.Join(clone.Dir, file))
		for _, part := range parts {
			if !strings.Contains(content, part) {
				t.Errorf("%s has no %s", file, part)
			}
		}
	}
}

func TestTheRootApplicationFollowsTheTarget(t *testing.T) {
	for _, method := range []Method{Direct, OLM, OpenShift, OLMv1} {
		p := newPipeline(t, method)
		if err := p.ApplyRoot(t.Context()); err != nil {
			t.Fatal(err)
		}
		root, err := p.Application(t.Context(), RootApplication)
		want := "gitops/apps/" + string(method) + " of " + p.Repo + " at memcached-demo"
		if err != nil || root.Source != want || p.Source() != want {
			t.Errorf("it follows %q, the target is %q, want %q, error %v", root.Source, p.Source(), want, err)
		}
	}
}

func TestAnArgoCDByItsOperatorKeepsItsOtherSettings(t *testing.T) {
	it := gomega.NewWithT(t)
	p := newPipeline(t, Direct)
	p.ArgoCDName = "example"
	live := object(ArgoCDKind, p.ArgoCDNamespace, "example")
	live.Object["spec"] = map[string]any{"version": "v1", "extraConfig": map[string]any{"url": "https://argocd.example.com"}}
	p.Client = fake.NewClientBuilder().WithObjects(live).Build()
	desired, err := p.settings()
	if err != nil || len(desired) != 1 {
		t.Fatalf("%v, %v", desired, err)
	}
	it.Expect(p.Apply(t.Context(), desired)).To(gomega.Succeed())
	it.Expect(p.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live)).To(gomega.Succeed())
	for want, fields := range map[string][]string{
		"v1":                         {"spec", "version"},
		"https://argocd.example.com": {"spec", "extraConfig", "url"},
		"annotation":                 {"spec", "extraConfig", "application.resourceTrackingMethod"},
	} {
		if got := text(live.Object, fields...); got != want {
			t.Errorf("%s is %q, want %q", fields, got, want)
		}
	}
}
