package helm

import (
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

func TestTheSchemaRefusesWhatCannotWork(t *testing.T) {
	tests := map[string]struct {
		values string
		want   []string
	}{
		"a misspelled value":           {"replica: 2", []string{"replica", "not allowed"}},
		"an architecture that is none": {"architectures: [amd64, mips]", []string{"/architectures/1", "amd64", "s390x"}},
		"no architecture":              {"architectures: []", []string{"/architectures", "minItems"}},
		"a number as a tag":            {"image: {tag: 1.6}", []string{"/image/tag", "want string"}},
		"a tag in the repository":      {"image: {repository: 'registry.example.com/operator:1'}", []string{"/image/repository"}},
		"an image without a registry":  {"image: {repository: operator}", []string{"/image/repository"}},
		"a digest that is none":        {"memcached: {image: {digest: abc}}", []string{"/memcached/image/digest", "abc"}},
		"replicas below zero":          {"replicas: -1", []string{"/replicas", "minimum"}},
		"a namespace that is no name":  {"watchNamespaces: [Team_A]", []string{"/watchNamespaces/0", "Team_A"}},
		"an unknown pull policy":       {"image: {pullPolicy: always}", []string{"/image/pullPolicy", "IfNotPresent"}},
		"a flag without dashes":        {"extraArgs: [sync-period=1h]", []string{"/extraArgs/0"}},
		"a label that the Pods are selected by": {
			`podLabels: {team: a, control-plane: "y"}`, []string{"/podLabels/control-plane"},
		},
		"an annotation that the Pods have": {
			"podAnnotations: {kubectl.kubernetes.io/default-container: x}",
			[]string{"/podAnnotations/kubectl.kubernetes.io~1default-container"},
		},
		"a field resources don't have": {"resources: {memory: 1Gi}", []string{"/resources", "memory"}},
	}
	loaded := load(t, pack(t, chart.Options{Version: version}))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := template(t, loaded, tc.values)
			if err == nil {
				t.Fatalf("%s is accepted", tc.values)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not hold %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestTheSchemaAcceptsTheGlobalValuesOfOtherCharts(t *testing.T) {
	mustTemplate(t, load(t, pack(t, chart.Options{Version: version})), "{global: {team: a}, enabled: true}")
}
