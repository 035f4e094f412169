package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApplicationSetsAreVerified: what they make for the example clusters is verified like all other Applications.
func TestApplicationSetsAreVerified(t *testing.T) {
	const set, cache, settings = "gitops/fleet/fleet.yaml", "caches/prod/team/sessions.yaml", "gitops/settings/kustomization.yaml"
	shippedFleet := func(t *testing.T) string {
		dir := shipped(t)
		if err := os.RemoveAll(filepath.Join(dir, "gitops/fleet")); err != nil {
			t.Fatal(err)
		}
		for from, to := range map[string]string{"testdata/fleet": "gitops/fleet", "testdata/fleet-caches": "caches"} {
			if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	tests := map[string]struct{ file, pattern, with, want string }{
		"an example of each cluster is good":    {cache, `size: 3`, "size: 4", "0 errors"},
		"a generator of a forge":                {set, `- list:`, "- scmProvider:", "the generator scmProvider can't be verified"},
		"a template of the old kind":            {set, `goTemplate: true`, "goTemplate: false", "only spec.goTemplate: true"},
		"a parameter that does not exist":       {set, `\.metadata\.labels\.way`, ".metadata.labels.road", "road"},
		"a template that can't be parsed":       {set, `\| lower`, "| lowest", `"lowest" not defined`},
		"a path that does not exist":            {set, `gitops/apps/direct`, "gitops/apps/helm", `"gitops/apps/helm"`},
		"no cluster of an environment":          {set, `caches/\*\}`, "other/*}", `"caches/`},
		"a matrix of one generator":             {set, `(?s)          - clusters:.*?(\n    - list:)`, "$1", "a matrix has two generators"},
		"a kind that the project refuses":       {set, `namespaceResourceWhitelist: .*`, `namespaceResourceWhitelist: [{group: apps, kind: Deployment}]`, "does not permit"},
		"a cluster that the project refuses":    {set, `server: "\*"`, "server: https://kubernetes.default.svc", "by-hand.example.com"},
		"a field that caches do not have":       {cache, `size: 3`, "replicas: 3", "spec.replicas"},
		"a namespace that takes its caches":     {cache, `Prune=false,`, "", "the caches in it"},
		"an image that the settings don't name": {settings, `(?s)  - source: \{kind: ConfigMap, name: settings, fieldPath: data\.memcachedImage\}.*?value"\]\n.*?value"\]\n`, "", "memcached image"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := shippedFleet(t)
			edit(t, dir, tc.file, tc.pattern, tc.with)
			out, err := gitops(t, "verify", dir, dir, "--method", "direct,openshift")
			if (err == nil) != (tc.want == "0 errors") || !strings.Contains(out, tc.want) {
				t.Errorf("%v: %q is missing in:\n%s", err, tc.want, out)
			}
		})
	}
}
