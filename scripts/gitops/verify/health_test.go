package verify

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// fixture is an object in some state, and the health that its check must return.
type fixture struct {
	State               string `json:"state"` // one of states, or another name
	health.HealthStatus        // a part of the message is enough
}

// states are the states in which each health check is tested. ageless are kinds whose status has no generation, so a
// stale status can't be recognized.
var (
	states  = []string{"healthy", "progressing", "degraded", "no status", stale}
	ageless = []string{tree.OLM + "/CatalogSource", tree.OLM + "/ClusterServiceVersion", tree.OLM + "/Subscription"}
)

const stale = "stale generation"

func read(t *testing.T, file string) (f fixture, o *unstructured.Unstructured) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	expected, object, _ := bytes.Cut(content, []byte("\n---\n"))
	if err := yaml.UnmarshalStrict(expected, &f); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	o = &unstructured.Unstructured{}
	if err := yaml.Unmarshal(object, &o.Object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return f, o
}

// TestEachHealthCheckReturnsTheHealthOfEachState runs the health checks by Argo CD's own code.
func TestEachHealthCheckReturnsTheHealthOfEachState(t *testing.T) {
	builder, err := tree.New(repository(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	argoCD, err := builder.ArgoCD(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := filepath.Glob("../testdata/health/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string][]string{}
	for _, file := range fixtures {
		f, o := read(t, file)
		kind := o.GroupVersionKind().Group + "/" + o.GetKind()
		tried[kind] = append(tried[kind], f.State)
		if faults := builder.Schemas.Faults(o); len(faults) > 0 || argoCD.Overrides[kind].HealthLua == "" {
			t.Errorf("%s: no object like that can have a health check: %s %q", file, kind, faults)
		}
		is, err := health.GetResourceHealth(o, lua.ResourceHealthOverrides(argoCD.Overrides))
		if err != nil || is.Status != f.Status || !strings.Contains(is.Message, f.Message) {
			t.Errorf("%s: %v, not %q: %v", file, is, f.HealthStatus, err)
		}
	}
	for kind, override := range argoCD.Overrides {
		for _, state := range states {
			isNeeded := override.HealthLua != "" && (state != stale || !slices.Contains(ageless, kind))
			if isNeeded && !slices.Contains(tried[kind], state) {
				t.Errorf("no fixture tries the health check of %s in the state %q: add one", kind, state)
			}
		}
	}
}
