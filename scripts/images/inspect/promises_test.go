package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestArchitecturesOfNodeAffinities(t *testing.T) {
	affinity := func(terms string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
	}
	arch := func(operator, values string) string {
		return "{key: kubernetes.io/arch, operator: " + operator + ", values: [" + values + "]}"
	}
	term := func(expressions ...string) string {
		return "{matchExpressions: [" + strings.Join(expressions, ",") + "]}"
	}
	const zone = "{key: zone, operator: In, values: [a]}"
	tests := map[string]struct {
		pod  string
		want []string
	}{
		"no affinity":                  {"{}", nil},
		"a node selector":              {"nodeSelector: {kubernetes.io/arch: s390x}", []string{"s390x"}},
		"a list":                       {affinity(term(arch("In", "arm64, amd64"), zone)), []string{"amd64", "arm64"}},
		"either of two terms":          {affinity(term(arch("In", "arm64")) + "," + term(arch("In", "amd64"))), []string{"amd64", "arm64"}},
		"a term without architectures": {affinity(term(arch("In", "arm64")) + "," + term(zone)), nil},
		"an excluded architecture":     {affinity(term(arch("NotIn", "arm64"))), nil},
		"a preference":                 {"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: " + term(arch("In", "arm64")) + "}]}}", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := corev1.PodSpec{}
			if err := yaml.UnmarshalStrict([]byte(tc.pod), &pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, landing(pod)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLabelsOfABundle(t *testing.T) {
	for want, labels := range map[string]map[string]string{
		"amd64": {"operatorframework.io/os.linux": "supported"}, // as OLM interprets it
		"s390x": {"operatorframework.io/arch.s390x": "supported", "operatorframework.io/arch.arm64": "no"},
	} {
		if diff := cmp.Diff([]string{want}, labelled(labels)); diff != "" {
			t.Error(diff)
		}
	}
}
