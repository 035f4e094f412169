package helm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

func TestHelmLintFindsNothing(t *testing.T) {
	for name, values := range map[string]string{
		"the defaults":         "",
		"all that is optional": "{replicas: 2, watchNamespaces: [a], monitoring: {enabled: true}, tolerations: [{operator: Exists}]}",
	} {
		t.Run(name, func(t *testing.T) {
			lint := action.NewLint()
			lint.Strict, lint.Namespace = true, namespace
			result := lint.Run([]string{pack(t, released)}, parseValues(t, values))
			for _, err := range result.Errors {
				t.Error(err)
			}
			for _, message := range result.Messages {
				if message.Severity > support.InfoSev {
					t.Error(message)
				}
			}
			if result.TotalChartsLinted != 1 {
				t.Errorf("the linter checked %d charts, want 1", result.TotalChartsLinted)
			}
		})
	}
}

func TestHelmReadsWhatTheChartIs(t *testing.T) {
	got := load(t, pack(t, released)).Metadata
	want := &chartv2.Metadata{
		APIVersion: chartv2.APIVersionV2, Name: chart.Name, Version: version, AppVersion: version, Type: "application",
		KubeVersion: ">=1.30.0-0",
		Annotations: map[string]string{
			"artifacthub.io/images": "- name: operator\n  image: " + released.Operator + "\n- name: agent\n  image: " +
				released.Agent + "\n- name: memcached\n  image: " + released.Memcached + "\n",
			"artifacthub.io/license": "Apache-2.0", "artifacthub.io/operator": "true",
		},
		// These values are copied from the ClusterServiceVersion. test/olm checks the rules for them there.
		Description: got.Description, Home: got.Home, Sources: []string{got.Home}, Keywords: got.Keywords, Maintainers: got.Maintainers,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Chart.yaml (-want +got):\n%s", diff)
	}
	if got.Description == "" || got.Home == "" || len(got.Keywords) == 0 || len(got.Maintainers) == 0 {
		t.Errorf("Chart.yaml does not have what catalogs show: %+v", got)
	}
}
