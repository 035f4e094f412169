package inspect

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// repository is one with an overlay and a bundle.
var repository = map[string]string{
	"operator/config/manager/kustomization.yaml": "resources: [manager.yaml]\n",
	"operator/config/manager/manager.yaml":       deployment("amd64, arm64", "amd64,arm64"),
	"overlays/arm64/kustomization.yaml":          "resources: [deployment.yaml]\n",
	"overlays/arm64/deployment.yaml":             deployment("arm64", "arm64"),
	"bundle/manifests/operator.clusterserviceversion.yaml": `
metadata:
  labels: {operatorframework.io/arch.s390x: supported, operatorframework.io/arch.arm64: "no", other: supported}
spec:
  install:
    spec:
      deployments:
        - name: controller-manager
` + indent(strings.Join(strings.SplitAfter(deployment("s390x", "s390x"), "\n")[3:], ""), 10),
}

func deployment(affinity, operand string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager}
spec:
  template:
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [` + affinity + `]}]
      containers:
        - {name: manager, image: "r.example.com/operator:1", env: [
            {name: RELATED_IMAGE_MEMCACHED, value: "r.example.com/memcached:1"},
            {name: OPERAND_ARCHITECTURES, value: "` + operand + `"}]}
        - {name: proxy, image: "r.example.com/proxy:1"}
`
}

func indent(text string, by int) string {
	return strings.ReplaceAll(strings.Repeat(" ", by)+strings.TrimSuffix(text, "\n"), "\n", "\n"+strings.Repeat(" ", by)) + "\n"
}

func TestPromisesOfOverlaysManagerAndBundle(t *testing.T) {
	root := t.TempDir()
	for name, content := range repository {
		if err := worktree.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	promises, err := Promises(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range promises {
		got = append(got, strings.Join([]string{p.Source, p.Field, p.Name, strings.Join(p.Architectures, "+")}, " | "))
	}
	const csv = "bundle/manifests/operator.clusterserviceversion.yaml"
	want := []string{
		"operator/config/manager | the node affinity | operator | amd64+arm64",
		"operator/config/manager | OPERAND_ARCHITECTURES | memcached | amd64+arm64",
		"operator/config/manager | the node affinity | proxy | amd64+arm64",
		"overlays/arm64 | the node affinity | operator | arm64",
		"overlays/arm64 | OPERAND_ARCHITECTURES | memcached | arm64",
		"overlays/arm64 | the node affinity | proxy | arm64",
		csv + " | the node affinity | operator | s390x",
		csv + " | OPERAND_ARCHITECTURES | memcached | s390x",
		csv + " | the node affinity | proxy | s390x",
		csv + " | the labels operatorframework.io/arch.* | operator | s390x",
		csv + " | the labels operatorframework.io/arch.* | proxy | s390x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

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

func TestABundleWithoutLabelsRunsOnAmd64(t *testing.T) {
	if diff := cmp.Diff([]string{"amd64"}, labelled(map[string]string{"operatorframework.io/os.linux": "supported"})); diff != "" {
		t.Error(diff)
	}
}
