package fleet

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/argoproj/notifications-engine/pkg/triggers"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// TestTheFleetMayWhatEachInstallMethodMay: the AppProject of the fleet permits the same kinds and namespaces as the
// AppProjects of a single cluster, and no others.
func TestTheFleetMayWhatEachInstallMethodMay(t *testing.T) {
	want := map[string][]string{}
	for _, way := range []string{"direct", "olm", "openshift", "olm-v1"} {
		objects, err := kustomize.Objects(filepath.Join(repository, "gitops/bootstrap", way))
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			installs := object.GetKind() == "AppProject" && object.GetName() != "memcached-root" &&
				object.GetName() != "memcached-samples"
			if installs {
				permitted(t, object, want)
			}
		}
	}
	got := map[string][]string{}
	permitted(t, shipped(t, "AppProject", "memcached-clusters"), got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memcached-clusters (-AppProjects of gitops/bootstrap +gitops/fleet):\n%s", diff)
	}
}

// permitted adds what an AppProject permits to the map all. The keys of this map are the names of the lists in the
// AppProject.
func permitted(t *testing.T, project *unstructured.Unstructured, all map[string][]string) {
	t.Helper()
	for list, fields := range map[string][2]string{
		"destinations":               {"namespace", "namespace"},
		"clusterResourceWhitelist":   {"group", "kind"},
		"namespaceResourceWhitelist": {"group", "kind"},
	} {
		items, _, err := unstructured.NestedSlice(project.Object, "spec", list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			item := item.(map[string]any)
			all[list] = append(all[list], item[fields[0]].(string)+" "+item[fields[1]].(string))
		}
		slices.Sort(all[list])
		all[list] = slices.Compact(all[list])
	}
}

// TestTheNotifications evaluates the triggers with Argo CD's own engine, and renders the templates of these triggers in
// the same way as Argo CD.
func TestTheNotifications(t *testing.T) {
	settings := shipped(t, "ConfigMap", "argocd-notifications-cm")
	data, _, err := unstructured.NestedStringMap(settings.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := triggers.NewService(parse[[]triggers.Condition](t, data, "trigger."))
	if err != nil {
		t.Fatal(err)
	}
	templates := parse[struct {
		Message string
		Email   struct{ Subject string }
	}](t, data, "template.")
	since := func(minutes time.Duration) string { return time.Now().Add(-minutes * time.Minute).Format(time.RFC3339) }
	for name, tc := range map[string]struct {
		project, sync, health, since string
		want                         []string
	}{
		"caches that are ready":                    {"memcached-caches", "Synced", "Healthy", since(60), nil},
		"a cache that waits for a minute":          {"memcached-caches", "Synced", "Progressing", since(1), nil},
		"a cache that waits for a quarter":         {"memcached-caches", "Synced", "Progressing", since(16), degraded},
		"an operator that waits for a quarter":     {"memcached-clusters", "Synced", "Progressing", since(16), degraded},
		"a namespace that is missing for long":     {"memcached-caches", "OutOfSync", "Missing", since(16), degraded},
		"caches before the first comparison":       {"memcached-caches", "Unknown", "Progressing", "", nil},
		"a cache that is Degraded":                 {"memcached-caches", "Synced", "Degraded", since(0), degraded},
		"another team's Application":               {"default", "OutOfSync", "Degraded", since(60), nil},
		"a root with a new revision":               {"memcached-fleet", "OutOfSync", "Healthy", since(60), pending},
		"a root on the way":                        {"memcached-fleet", "Synced", "Progressing", since(60), nil},
		"a root that has reached its new revision": {"memcached-fleet", "Synced", "Healthy", since(0), done},
	} {
		t.Run(name, func(t *testing.T) {
			variables := variables(tc.project, tc.sync, tc.health, tc.since)
			var got []string
			for _, trigger := range slices.Sorted(maps.Keys(data)) {
				trigger, isTrigger := strings.CutPrefix(trigger, "trigger.")
				if !isTrigger {
					continue
				}
				results, err := engine.Run(trigger, variables)
				if err != nil {
					t.Fatal(err)
				}
				if !results[0].Triggered {
					continue
				}
				for _, name := range results[0].Templates {
					got = append(got, render(t, templates[name].Email.Subject, variables))
					if message := render(t, templates[name].Message, variables); !strings.Contains(message, "fleet-2") {
						t.Errorf("%s does not say which revision:\n%s", name, message)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// These are the subjects of the three notifications.
var (
	degraded = []string{"Degraded: fleet-prod-frankfurt"}
	pending  = []string{"Update pending: fleet-prod-frankfurt"}
	done     = []string{"Ring 2: fleet-prod-frankfurt is done"}
)

// variables returns the values that Argo CD passes to triggers and templates for an Application, but only the values
// that are used here.
func variables(project, sync, health, since string) map[string]any {
	healthOf := map[string]any{"status": health}
	if since != "" {
		healthOf["lastTransitionTime"] = since
	}
	return map[string]any{
		"time": map[string]any{"Now": time.Now, "Parse": func(text string) time.Time {
			parsed, err := time.Parse(time.RFC3339, text)
			if err != nil {
				panic(err)
			}
			return parsed
		}},
		"context": map[string]any{"argocdUrl": "https://argocd.example.com"},
		"app": map[string]any{
			"metadata": map[string]any{
				"name": "fleet-prod-frankfurt", "namespace": "argocd", "labels": map[string]any{"ring": "2"},
			},
			"spec": map[string]any{"project": project, "source": map[string]any{"targetRevision": "fleet-2"}},
			"status": map[string]any{
				"sync": map[string]any{"status": sync, "revision": "0123abc"}, "health": healthOf,
			},
		},
	}
}

// parse reads the settings whose keys begin with a prefix.
func parse[T any](t *testing.T, data map[string]string, prefix string) map[string]T {
	t.Helper()
	found := map[string]T{}
	for key, text := range data {
		name, has := strings.CutPrefix(key, prefix)
		if !has {
			continue
		}
		var parsed T
		if err := yaml.UnmarshalStrict([]byte(text), &parsed); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		found[name] = parsed
	}
	return found
}

func render(t *testing.T, text string, variables map[string]any) string {
	t.Helper()
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, variables); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
