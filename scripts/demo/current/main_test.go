package current

import (
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// server is an API server with all that the checks want to see, and nobody who would sync an Application.
var server *demotest.Server

func TestMain(m *testing.M) {
	os.Exit(demotest.Main(m, func(s *demotest.Server) error {
		server = s
		return furnish(context.Background()) //nolint:forbidigo // TestMain has no test to take a context from.
	}))
}

func furnish(ctx context.Context) error {
	if err := server.Define(ctx, demotest.ArgoCDKinds()...); err != nil {
		return err
	}
	const controller = "argocd-application-controller"
	return server.Create(ctx,
		demotest.Node("node", oci.Host().Architecture),
		demotest.Namespace("argocd"),
		demotest.ArgoCDSettings("argocd", nil),
		demotest.Controller("argocd", controller, "quay.io/argoproj/argocd:v3.2.6", 1),
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: controller},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "argocd", Name: controller}},
		})
}

// world is what a demo works on.
type world struct {
	Options
	registry string
	git      string // folder
}

func newWorld(t *testing.T, way target.Way) *world {
	t.Helper()
	kubeconfig, err := server.Admin()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	images := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(images.Close)
	w := &world{registry: strings.TrimPrefix(images.URL, "http://"), git: t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--bare", "--initial-branch=main", w.git).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.Options = Options{Options: target.Options{
		Way: way, Registry: w.registry + "/team", Repo: "file://" + w.git, MemcachedImage: "r.example.org/memcached:1",
	}}
	server.Seen.Take()
	return w
}

// images are the repositories in the registry.
func (w *world) images(t *testing.T) []string {
	t.Helper()
	registry, err := name.NewRegistry(w.registry)
	if err != nil {
		t.Fatal(err)
	}
	repositories, err := remote.Catalog(t.Context(), registry)
	if err != nil {
		t.Fatal(err)
	}
	return repositories
}

// read runs git in the repository.
func (w *world) read(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"--git-dir", w.git}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// expectUntouched checks that nothing anywhere was changed, and that somebody looked at it.
func (w *world) expectUntouched(t *testing.T) {
	t.Helper()
	requests, changes := server.Seen.Take()
	if requests == 0 {
		t.Error("the API server was not asked anything: this test sees nothing")
	}
	if changes != nil {
		t.Errorf("the cluster was changed: %v", changes)
	}
	if images := w.images(t); len(images) > 0 {
		t.Errorf("images were pushed: %v", images)
	}
	if refs := w.read(t, "for-each-ref"); refs != "" {
		t.Errorf("commits were pushed: %s", refs)
	}
}
