package bundle

import (
	"maps"
	"strings"
	"testing"
)

func TestABundleThatOLMOrOperatorHubWouldRefuse(t *testing.T) {
	const crd = "manifests/cache.example.com_memcacheds.yaml"
	tests := map[string]struct{ file, old, new, want string }{
		"a missing annotation":             {CSVFile, `tls-profiles: "false"`, `tls: "false"`, "tls-profiles is required"},
		"an annotation that is no text":    {CSVFile, "    repository:", "    certified: true\n    repository:", "annotations.certified must be of type string"},
		"a feature that is no boolean":     {CSVFile, `proxy-aware: "false"`, `proxy-aware: "no"`, `proxy-aware should be one of [true false], not "no"`},
		"an unknown capability level":      {CSVFile, "capabilities: Seamless Upgrades", "capabilities: All", `should be one of [Basic Install Seamless Upgrades`},
		"an unknown category":              {CSVFile, "categories: Database", "categories: Database, Caches", `annotations.categories should match`},
		"a time that is none":              {CSVFile, `createdAt: "2026-`, `createdAt: "26-`, "createdAt must be of type date-time"},
		"a long description":               {CSVFile, "    description: Runs", "    description: " + strings.Repeat("x", 200), "description should be at most 134 chars long"},
		"a repository without TLS":         {CSVFile, "repository: https:", "repository: http:", "repository should match"},
		"an oldest Kubernetes of two":      {CSVFile, "minKubeVersion: 1.30.0", "minKubeVersion: '1.30'", "minKubeVersion should match"},
		"a maintainer without an address":  {CSVFile, "email: maintainers@example.com", "email: maintainers", `maintainers[0].email must be of type email: "maintainers"`},
		"an icon that is not embedded":     {CSVFile, "  icon:\n", "  icons:\n", "spec.icon is required"},
		"an install mode that is refused":  {CSVFile, "type: MultiNamespace\n    supported: true", "type: MultiNamespace\n    supported: false", "supported should be one of [true]"},
		"an install mode twice":            {CSVFile, "type: OwnNamespace", "type: AllNamespaces", "spec.installModes shouldn't contain duplicates"},
		"a webhook":                        {CSVFile, "  install:\n", "  webhookdefinitions: [{type: ConversionWebhook}]\n  install:\n", "webhookdefinitions is a forbidden property"},
		"an API of another operator":       {CSVFile, "    owned:\n", "    required: [{name: x.example.com}]\n    owned:\n", "customresourcedefinitions.required is a forbidden property"},
		"a manager without CPU":            {CSVFile, "cpu: 10m", "gpu: 1", "containers[0].resources.requests.cpu is required"},
		"an API without a description":     {CSVFile, "description: A cache", `description: ""` + " #", "owned[0].description should be at least 1 chars long"},
		"manifests that are too large":     {crd, "spec:", "# " + strings.Repeat("x", 1<<20) + "\nspec:", "OLM accepts 1048576"},
		"a label that claims nothing":      {CSVFile, "arch.s390x: supported", "arch.s390x: maybe", "arch.s390x should be one of [supported]"},
		"a namespace that cannot be named": {CSVFile, "suggested-namespace: memcached", "suggested-namespace: Memcached", "suggested-namespace should match"},
	}
	valid := build(t, nil)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(valid)
			if files[tc.file] = strings.ReplaceAll(valid[tc.file], tc.old, tc.new); files[tc.file] == valid[tc.file] {
				t.Fatalf("%s does not hold %q", tc.file, tc.old)
			}
			if err := files.Check(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
