package bundle

import (
	"maps"
	"strings"
	"testing"
)

func TestABundleThatOLMOrOperatorHubWouldRefuse(t *testing.T) {
	const crd = "manifests/cache.example.com_memcacheds.yaml"
	tests := map[string]struct{ file, old, new, want string }{
		"a missing annotation":         {CSVFile, `tls-profiles: "false"`, `tls: "false"`, "tls-profiles is required"},
		"a feature that is no boolean": {CSVFile, `proxy-aware: "false"`, `proxy-aware: "no"`, `proxy-aware should be one of [true false], not "no"`},
		"a time that is none":          {CSVFile, `createdAt: "2026-`, `createdAt: "26-`, "createdAt must be of type date-time"},
		"a long description":           {CSVFile, "    description: Runs", "    description: " + strings.Repeat("x", 200), "description should be at most 134 chars long"},
		"an install mode twice":        {CSVFile, "type: OwnNamespace", "type: AllNamespaces", "spec.installModes shouldn't contain duplicates"},
		"a webhook":                    {CSVFile, "  install:\n", "  webhookdefinitions: [{type: ConversionWebhook}]\n  install:\n", "webhookdefinitions is a forbidden property"},
		"a manager without CPU":        {CSVFile, "cpu: 10m", "gpu: 1", "containers[0].resources.requests.cpu is required"},
		"manifests that are too large": {crd, "spec:", "# " + strings.Repeat("x", 1<<20) + "\nspec:", "OLM accepts 1048576"},
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
