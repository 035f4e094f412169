package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

func TestBeforeAndAfterGitopsInit(t *testing.T) {
	tests := map[string]struct {
		files tree.Files
		level string // empty: no problem
		words []string
	}{
		"examples are a warning before":        {shipped(t), Warning, []string{"repoURL, operatorImage, agentImage, snapshotImage, catalogImage", "gitops-init"}},
		"there are none after":                 {taken(t), "", nil},
		"an example that is left is an error":  {set(t, "operatorImage", "images.example.com/o:1"), Error, []string{"operatorImage", "while these are not: repoURL, agentImage, snapshotImage, catalogImage"}},
		"the repository alone is a warning":    {set(t, "repoURL", "https://git.example.com/a.git"), Warning, []string{"repoURL", "while these are not: operatorImage, agentImage, snapshotImage, catalogImage"}},
		"a catalog by tag is an error":         {set(t, "catalogImage", "acme.test/c:v1"), Error, []string{"catalogImage", "has no digest"}},
		"one with a digest of zeros a warning": {set(t, "catalogImage", "acme.test/c@sha256:"+strings.Repeat("0", 64)), Warning, []string{"no image has that digest"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			problems := of(tree.SettingsFile, verified(t, Options{Files: tc.files, variants: plain}))
			if tc.level == "" && len(problems) == 0 {
				return
			}
			if len(problems) != 1 || problems[0].Level != tc.level || !containsAll(problems[0].String(), tc.words) {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// of returns the problems of a file.
func of(file string, report Report) []Problem {
	return slices.DeleteFunc(slices.Clone(report.Problems), func(p Problem) bool { return p.File != file })
}

// set returns the repository after gitops-init, and after a change to the value of a setting.
func set(t *testing.T, setting, value string) tree.Files {
	t.Helper()
	return apply(t, taken(t), replace(tree.SettingsFile, setting+`: .*`, setting+": "+value))
}

func TestAProblemOfOneWaySaysSo(t *testing.T) {
	const file = "gitops/operator/olm-v1/clusterextension.yaml"
	files := apply(t, taken(t), replace(file, `sync-wave: "-1"`, `sync-wave: first`))
	problems := of(file, verified(t, Options{Files: files, variants: plain}))
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "(olm-v1)") {
		t.Errorf("problems: %v", problems)
	}
}

func TestVariantsAreAllThatTheTreeOffers(t *testing.T) {
	seen := map[string]int{}
	for _, v := range variants(taken(t)) {
		seen[strings.Join(v.options, "+")]++
	}
	for _, option := range []string{"", "console", "cluster-admin", "default-project", "ingress+console-oidc", "istio+console-oidc", "gateway-api+console-oidc", "plain-ingress+console-oidc", "installer", "manual-approval", "monitoring", "two-replicas", "version"} {
		if seen[option] != 5 {
			t.Errorf("option %q is tried with %d architectures: %v", option, seen[option], seen)
		}
	}
}

func TestAFolderThatNothingIsMadeOfIsFound(t *testing.T) {
	const file = "gitops/operator/olm-v1/forgotten/kustomization.yaml"
	files := apply(t, taken(t), write(file, "kind: Component\n"))
	report := verified(t, Options{Files: files, cache: tree.Cache{}})
	found(t, report, "unreached", []string{file, "# - ../forgotten"})
	if problems := of(file, report); len(problems) != len(report.Problems) {
		t.Errorf("problems: %v", report.Problems)
	}
}
