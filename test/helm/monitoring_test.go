package helm

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

// TestAnOperatorWithoutMetricsIsNotMonitored: nothing would be scraped, and the alert for an operator whose metrics
// are missing would fire for ever.
func TestAnOperatorWithoutMetricsIsNotMonitored(t *testing.T) {
	type monitoring struct {
		CachesMonitored, OperatorMonitored, Scraper bool
		Rules                                       []string
	}
	caches := monitoring{CachesMonitored: true, Rules: []string{"memcached"}}
	tests := map[string]struct {
		values string
		want   monitoring
	}{
		"an operator with metrics": {
			"monitoring: {enabled: true}", monitoring{true, true, true, []string{"memcached", chart.Name}},
		},
		"metrics are off":                {"{monitoring: {enabled: true}, metrics: {enabled: false}}", caches},
		"it has rights in one namespace": {"{monitoring: {enabled: true}, watchNamespaces: [team-a]}", caches},
		"neither": {
			"{monitoring: {enabled: true}, metrics: {enabled: false}, watchNamespaces: [team-a]}", caches,
		},
		"no monitoring": {"", monitoring{}},
	}
	loaded := load(t, pack(t, released))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rendered := mustTemplate(t, loaded, tc.values)
			got := monitoring{
				CachesMonitored:   rendered["PodMonitor/"+namespace+"/memcached"] != nil,
				OperatorMonitored: rendered[serviceMon] != nil,
				Rules:             ruleGroups(t, rendered["PrometheusRule/"+namespace+"/"+chart.Name]),
			}
			for _, id := range []string{"ServiceAccount/" + namespace + "/", "Secret/" + namespace + "/", "ClusterRoleBinding//"} {
				got.Scraper = got.Scraper || rendered[id+chart.Name+"-scraper"] != nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			boundRolesExist(t, rendered)
		})
	}
}

func ruleGroups(t *testing.T, rule map[string]any) (names []string) {
	t.Helper()
	groups, _, err := unstructured.NestedSlice(rule, "spec", "groups")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		names = append(names, fmt.Sprint(group.(map[string]any)["name"])) //nolint:forcetypeassert // A test may panic.
	}
	return names
}

// boundRolesExist fails for a binding whose ClusterRole is not in the chart.
func boundRolesExist(t *testing.T, rendered objects) {
	t.Helper()
	for id, object := range rendered {
		role, found, err := unstructured.NestedString(object, "roleRef", "name")
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := unstructured.NestedString(object, "roleRef", "kind")
		if found && kind == "ClusterRole" && rendered["ClusterRole//"+role] == nil {
			t.Errorf("%s binds the ClusterRole %s, which is not there", id, role)
		}
	}
}
