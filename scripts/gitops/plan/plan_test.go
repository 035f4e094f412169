package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	log "github.com/sirupsen/logrus"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/paint"
	"github.com/example-inc/memcached-operator/scripts/gitops/render"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	log.SetLevel(log.ErrorLevel) // Argo CD's packages
	os.Exit(m.Run())
}

// cache is for all tests: most of the tree is the same in each.
var cache = render.NewCache()

var load = sync.OnceValues(func() (repo.Files, error) { return repo.Load("../../..") })

// shipped is the repository with settings of its own, whatever its user has made of them.
func shipped(t *testing.T) repo.Files {
	t.Helper()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile("testdata/settings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return files.With(repo.Files{repo.SettingsFile: settings})
}

func planOf(t *testing.T, files repo.Files, way string) Plan {
	t.Helper()
	builder, err := tree.Prepare(t.Context(), files, tree.Skip)
	if err != nil {
		t.Fatal(err)
	}
	builder.Cache = cache
	p, err := New(t.Context(), builder, way, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlans(t *testing.T) {
	for _, way := range []string{"direct", "olm"} {
		t.Run(way, func(t *testing.T) {
			files, err := shipped(t).WithArchitecture("arm64")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			planOf(t, files, way).Text(&out, paint.New(false))
			golden(t, "testdata/"+way+".txt", out.Bytes())
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s, which go test -update writes anew (-want +got):\n%s", file, diff)
	}
}

func TestAPlanAsJSON(t *testing.T) {
	content, err := json.Marshal(planOf(t, shipped(t), "olm"))
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, app := range got.Applications {
		names = append(names, app.Name)
	}
	if diff := cmp.Diff([]string{"olm", "memcached-operator", "memcached-samples"}, names); diff != "" {
		t.Errorf("Applications (-want +got):\n%s", diff)
	}
	i := slices.IndexFunc(got.Applications[1].Objects, func(o Object) bool { return o.Kind == "Subscription" })
	if i < 0 {
		t.Fatal("the operator has no Subscription")
	}
	object := got.Applications[1].Objects[i]
	object.Keep = nil
	want := Object{
		Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription", Namespace: "memcached-operator-system",
		Name: "memcached-operator", Wave: 1, Health: argo.Ours,
		Images: []string{"docker.io/library/memcached:1.6.45", "registry.example.com/memcached-agent:0.1.0"},
	}
	if diff := cmp.Diff(want, object, cmp.AllowUnexported(Object{})); diff != "" {
		t.Errorf("Subscription (-want +got):\n%s", diff)
	}
	for _, part := range []string{`"health":"none"`, `"keep":["prune","delete"]`, `"options":[]`, `"given":[]`} {
		if !strings.Contains(string(content), part) {
			t.Errorf("%s is missing", part)
		}
	}
}

func TestAPlanTellsWhatTheClusterMustHave(t *testing.T) {
	want := []string{"CatalogSource of OpenShift", "OperatorGroup of OpenShift", "Subscription of OpenShift"}
	if diff := cmp.Diff(want, planOf(t, shipped(t), "openshift").Given); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATreeThatIsNotWholeIsNotPlanned(t *testing.T) {
	for name, tc := range map[string]struct{ file, old, with, want string }{
		"a path that is not there": {"gitops/apps/base/samples.yaml", "gitops/samples", "gitops/sample", "gitops/sample"},
		"a source that nobody lists": {
			"gitops/platform/cert-manager/kustomization.yaml", "/download/v", "/download/v9", "does not list",
		},
		"settings of Argo CD that it can't read": {
			"gitops/bootstrap/argocd/health/argocd-cm.yaml", "name: argocd-cm", "name: other", "argocd-cm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := shipped(t)
			changed := strings.Replace(string(files[tc.file]), tc.old, tc.with, 1)
			builder, err := tree.Prepare(t.Context(), files.With(repo.Files{tc.file: []byte(changed)}), tree.Skip)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := New(t.Context(), builder, "direct", nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	p := planOf(t, shipped(t), "direct")
	var plain, coloured, toFile bytes.Buffer
	p.Text(&plain, paint.New(false))
	p.Text(&coloured, paint.New(true))
	p.Text(&toFile, paint.For(&toFile))
	if strings.Contains(plain.String(), "\x1b[") || !strings.Contains(coloured.String(), "\x1b[") {
		t.Error("colours are where none are wanted, or the other way round")
	}
	if diff := cmp.Diff(plain.String(), toFile.String()); diff != "" {
		t.Errorf("what is no terminal gets colours (-want +got):\n%s", diff)
	}
}
