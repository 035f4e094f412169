package plan

import (
	"bytes"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/gitops/paint"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// changed is the repository with texts replaced, file by file.
func changed(t *testing.T, replacements ...[3]string) repo.Files {
	t.Helper()
	files := shipped(t)
	for _, r := range replacements {
		text := strings.ReplaceAll(string(files[r[0]]), r[1], r[2])
		if text == string(files[r[0]]) {
			t.Fatalf("%s does not hold %q", r[0], r[1])
		}
		files = files.With(repo.Files{r[0]: []byte(text)})
	}
	return files
}

func TestDiffs(t *testing.T) {
	tests := map[string]struct {
		way     string
		changes [][3]string
	}{
		"nothing": {"olm", nil},
		"upgrade": {"olm", [][3]string{{repo.SettingsFile, "sha256:111", "sha256:222"}}},
		"waves":   {"direct", [][3]string{{"gitops/apps/base/samples.yaml", `"3"`, `"4"`}}},
		"removed": {"direct", [][3]string{{"gitops/apps/base/kustomization.yaml", "  - samples.yaml\n", ""}}},
		"by-hand": {"direct", [][3]string{{"gitops/bootstrap/base/samples-project.yaml", "    - {group: autoscaling, kind: HorizontalPodAutoscaler}\n", ""}}},
		"release": {"olm", [][3]string{
			{"gitops/platform/olm/kustomization.yaml", "v0.46.0", "v0.47.0"}, {"gitops/sources.json", "v0.46.0", "v0.47.0"},
			{"gitops/sources.json", `"name":"aggregate-olm-view"`, `"name":"aggregate-olm-reader"`},
			{"gitops/sources.json", "quay.io/operator-framework/opm", "quay.io/operator-framework/opm2"},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			diff := Compare(planOf(t, shipped(t), tc.way), planOf(t, changed(t, tc.changes...), tc.way), "main")
			var out bytes.Buffer
			diff.Text(&out, paint.New(false))
			golden(t, "testdata/diff-"+name+".txt", out.Bytes())
		})
	}
}

func TestAllOfANewWayIsAdded(t *testing.T) {
	diff := Compare(Plan{}, planOf(t, shipped(t), "direct"), "HEAD~9")
	if diff.count(Added) != len(diff.Changes) || len(diff.Changes) < 20 {
		t.Errorf("%d of %d are added", diff.count(Added), len(diff.Changes))
	}
}
