package verify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// fixture is an object in some state, and the health to expect.
type fixture struct {
	State               string `json:"state"` // one of states, or another name
	health.HealthStatus        // a part of the message is enough
}

// states are those that each health check is tried in. ageless are kinds whose status has no generation, so that a
// stale status looks like others.
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

// try returns what the health checks of the files get wrong, in Argo CD's own engine, and the states that they are
// tried in.
func try(t *testing.T, files tree.Files) (argoCD tree.ArgoCD, tried map[string][]string, wrong []string) {
	t.Helper()
	builder, err := tree.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if argoCD, err = builder.ArgoCD(t.Context()); err != nil {
		t.Fatal(err)
	}
	fixtures, err := filepath.Glob("../testdata/health/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried = map[string][]string{}
	for _, file := range fixtures {
		f, o := read(t, file)
		kind := o.GroupVersionKind().Group + "/" + o.GetKind()
		tried[kind] = append(tried[kind], f.State)
		faults := builder.Schemas.Faults(o)
		if o.GroupVersionKind() == tree.ApplicationKind {
			if _, err := tree.Decode[v1alpha1.Application](o); err != nil {
				faults = append(faults, err.Error())
			}
		}
		if len(faults) > 0 || argoCD.Overrides[kind].HealthLua == "" {
			t.Errorf("%s: no object like that can have a health check: %s %q", file, kind, faults)
		}
		is, err := health.GetResourceHealth(o, lua.ResourceHealthOverrides(argoCD.Overrides))
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: the check fails: %v", file, err))
		} else if is.Status != f.Status || !strings.Contains(is.Message, f.Message) {
			wrong = append(wrong, fmt.Sprintf("%s: %q, not %q", file, *is, f.HealthStatus))
		}
	}
	return argoCD, tried, wrong
}

func TestEachHealthCheckReturnsTheHealthOfEachState(t *testing.T) {
	argoCD, tried, wrong := try(t, repository(t))
	for _, text := range wrong {
		t.Error(text)
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

func TestAMistakeInAHealthCheckIsFound(t *testing.T) {
	tests := map[string]struct {
		words         []string
		pattern, with string
	}{
		"Memcached, without a look at the generation":        {[]string{"memcached/stale.yaml", "Healthy"}, `observedGeneration ~= obj`, "observedGeneration == nil and obj"},
		"Memcached, Stalled or not":                          {[]string{"memcached/degraded.yaml", "Progressing"}, `"Stalled"`, `"Broken"`},
		"Application, synced or not":                         {[]string{"application/out-of-sync.yaml", "Healthy"}, `status\.sync\.status ~= "Synced" or `, ""},
		"Application, of whichever revision":                 {[]string{"application/stale.yaml", "Healthy"}, `compared ~= nil and `, "false and "},
		"Application, of another tree":                       {[]string{"application/foreign-out-of-sync.yaml", "Progressing"}, `~= "memcached-operator"`, `== "nobody"`},
		"CatalogSource, before OLM reads it":                 {[]string{"catalogsource/healthy.yaml", "catalogsource"}, `"READY"`, `"CONNECTING"`},
		"ClusterServiceVersion, failed":                      {[]string{"clusterserviceversion/degraded.yaml"}, `"Failed"`, `"Broken"`},
		"Subscription, an upgrade that waits":                {[]string{"subscription/upgrade-that-waits.yaml", "Progressing"}, `"Manual"`, `"Never"`},
		"ClusterCatalog, of the spec before":                 {[]string{"clustercatalog/stale.yaml", "Healthy"}, `condition\.observedGeneration == obj\.metadata\.generation`, "true"},
		"ClusterExtension, of the spec before":               {[]string{"clusterextension/stale.yaml", "Healthy"}, `if condition\.observedGeneration == obj\.metadata\.generation then`, "if true then"},
		"a check that is no Lua":                             {[]string{"memcached/", "fails"}, `return health`, "retrun health"},
		"a check with what Argo CD's engine does not let it": {[]string{"memcached/", "fails"}, `return health`, `return string.upper("x")`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, wrong := try(t, apply(t, taken(t), replace(existingMap, tc.pattern, tc.with)))
			if !slices.ContainsFunc(wrong, func(text string) bool { return containsAll(text, tc.words) }) {
				t.Errorf("no problem has %q: %q", tc.words, wrong)
			}
		})
	}
}
