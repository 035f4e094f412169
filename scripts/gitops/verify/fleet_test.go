package verify

import (
	"os"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

const fleetSet, cached = "gitops/fleet/fleet.yaml", "caches/prod/team/sessions.yaml"

// inFleet are mistakes in what ApplicationSets make for the example clusters.
var inFleet = map[string]broken{
	"a generator of a forge":             {"direct", "", "complete", []string{fleetSet, "the generator SCMProvider needs a network"}, []edit{replace(fleetSet, `- list:`, "- scmProvider:")}},
	"a parameter that does not exist":    {"direct", "", "complete", []string{fleetSet, "road"}, []edit{replace(fleetSet, `\.metadata\.labels\.way`, ".metadata.labels.road")}},
	"a template that can't be parsed":    {"direct", "", "complete", []string{fleetSet, `"lowest" not defined`}, []edit{replace(fleetSet, `\| lower`, "| lowest")}},
	"a matrix of one generator":          {"direct", "", "complete", []string{fleetSet, "less than two generators"}, []edit{replace(fleetSet, `(?s)          - clusters:.*?(\n    - list:)`, "$1")}},
	"a list of nothing":                  {"direct", "", "complete", []string{"gitops/fleet", "make no Application"}, []edit{replace(fleetSet, `(?s)    - matrix:.*(\n  template:)`, "    - list: {elements: []}$1")}},
	"a path that an element names":       {"direct", "", "complete", []string{fleetSet, `"gitops/apps/helm"`}, []edit{replace(fleetSet, `way: direct`, "way: helm")}},
	"a folder that can't be built":       {"direct", "", "complete", []string{"gitops/fleet", "gone.yaml"}, []edit{replace("gitops/fleet/kustomization.yaml", `fleet\.yaml`, "gone.yaml")}},
	"a kind that its project refuses":    {"direct", "", "permission", []string{"Memcached", "namespaceResourceWhitelist"}, []edit{replace(fleetSet, `namespaceResourceWhitelist: .*`, "namespaceResourceWhitelist: [{group: apps, kind: Deployment}]")}},
	"a cluster that its project refuses": {"direct", "", "permission", []string{"by-hand.example.com", "destinations"}, []edit{replace(fleetSet, `server: "\*"`, "server: https://kubernetes.default.svc")}},
	"a field that caches do not have":    {"direct", "", "schema", []string{cached, "spec.replicas"}, []edit{replace(cached, `size: 3`, "replicas: 3")}},
	"a namespace that takes its caches":  {"direct", "", "keep", []string{cached, "the caches in it"}, []edit{replace(cached, `Prune=false,`, "")}},
	"an architecture of one cluster":     {"openshift", "", "architecture", []string{"Subscription", "OPERAND_ARCHITECTURES"}, []edit{replace(subscription, "OPERAND_ARCHITECTURES", "ARCHITECTURES"), replace(settings, `.*OPERAND_ARCHITECTURES.*\n`, "")}},
}

// withFleet returns the repository with a fleet, and with caches for one environment.
func withFleet(t *testing.T) tree.Files {
	t.Helper()
	files := taken(t).With(tree.Files{"gitops/fleet/kustomization.yaml": []byte("resources: [fleet.yaml]\ncomponents: [../settings]\n")})
	for name, file := range map[string]string{fleetSet: "testdata/fleet.yaml", cached: "testdata/sessions.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	return files
}

func TestMistakesInAFleetAreFound(t *testing.T) {
	if report := verified(t, Options{Files: withFleet(t), Methods: []string{"direct", "openshift"}, variants: []variant{}}); len(report.Problems) > 0 || report.Applications < 20 {
		t.Errorf("a good fleet of %d Applications: %v", report.Applications, report.Problems)
	}
	for name, tc := range inFleet {
		t.Run(name, func(t *testing.T) {
			files := apply(t, withFleet(t), tc.edits...)
			found(t, verified(t, Options{Files: files, Methods: []string{tc.method}, variants: []variant{}}), tc.rule, tc.words)
		})
	}
}
