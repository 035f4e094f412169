package verify

import (
	"maps"
	"slices"
	"testing"
)

// broken is the repository with a mistake in it, and what is said of it.
type broken struct {
	ways  []string // where it shows
	edits []edit
	rule  string
	words []string
}

const (
	policy     = "gitops/apps/policy/policy.yaml"
	samplesApp = "gitops/apps/base/samples.yaml"
	project    = "gitops/bootstrap/base/samples-project.yaml"
	samples    = "gitops/samples/kustomization.yaml"
	settings   = "gitops/settings/kustomization.yaml"
)

// mistakes are shown to be found, at least one for each rule of a tree.
func mistakes() map[string]broken {
	all := map[string]broken{}
	for _, group := range []map[string]broken{
		applicationMistakes, projectMistakes, orderMistakes, imageMistakes, objectMistakes,
	} {
		maps.Copy(all, group)
	}
	return all
}

func TestEachMistakeIsFound(t *testing.T) {
	for name, tc := range mistakes() {
		t.Run(name, func(t *testing.T) {
			files := apply(t, taken(t), tc.edits...)
			report := verified(t, Options{Files: files, Ways: tc.ways, variants: plain})
			for _, p := range report.Problems {
				if p.Rule == tc.rule && containsAll(p.String(), tc.words) {
					expect(t, p, Error, tc.rule, tc.words)
					return
				}
			}
			t.Errorf("no problem of the rule %q with %q: %v", tc.rule, tc.words, report.Problems)
		})
	}
}

func TestEachRuleIsShownToFail(t *testing.T) {
	var shown []string
	for _, mistake := range mistakes() {
		shown = append(shown, mistake.rule)
	}
	for _, rule := range rules {
		if !slices.Contains(shown, rule.name) {
			t.Errorf("no mistake shows that the rule %q fails", rule.name)
		}
	}
}

var applicationMistakes = map[string]broken{
	"a field that Applications do not have": {
		[]string{"direct"}, []edit{replace(samplesApp, `spec:\n`, "spec:\n  projects: x\n")},
		"whole", []string{samplesApp, "memcached-samples", "spec.projects", "correct or remove"},
	},
	"a field that AppProjects do not have": {
		[]string{"direct"}, []edit{replace(project, `spec:\n`, "spec:\n  sources: []\n")},
		"whole", []string{project, "spec.sources"},
	},
	"a path that is not there": {
		[]string{"direct"}, []edit{replace(samplesApp, "gitops/samples", "gitops/sample")},
		"whole", []string{samplesApp, `"gitops/sample"`, "from the root"},
	},
	"a folder that can't be built": {
		[]string{"direct"}, []edit{replace(samples, `- namespace\.yaml`, "- gone.yaml")},
		"whole", []string{"gitops/samples", "gone.yaml", "kubectl kustomize"},
	},
	"a way without a root": {
		[]string{"direct"}, []edit{replace("gitops/bootstrap/base/root.yaml", `(?s)kind: Application\nmetadata`, "kind: AppProject\nmetadata")},
		"whole", []string{"gitops/bootstrap/direct"},
	},
	"a way with two roots": {
		[]string{"direct"}, []edit{
			replace("gitops/bootstrap/base/kustomization.yaml", `  - root\.yaml`, "  - root.yaml\n  - other.yaml"),
			write("gitops/bootstrap/base/other.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: other}\n"+
				"spec: {project: x, source: {path: x, repoURL: x}, destination: {namespace: x}}\n"),
		},
		"whole", []string{"a second root", "gitops/apps"},
	},
	"no retry": {
		[]string{"direct"}, []edit{replace(policy, `limit: \d+`, "limit: 0")},
		"application", []string{"memcached-samples", "syncPolicy.retry", policy},
	},
	"no backoff": {
		[]string{"direct"}, []edit{replace(policy, `backoff: .*`, "")},
		"application", []string{"memcached-samples", "backoff"},
	},
	"no self-healing": {
		[]string{"direct"}, []edit{replace(policy, "selfHeal: true", "selfHeal: false")},
		"application", []string{"selfHeal"},
	},
	"no sync policy": {
		[]string{"direct"}, []edit{replace(policy, `(?s)  syncPolicy:.*`, "")},
		"application", []string{"automated"},
	},
	"client-side apply": {
		[]string{"direct"}, []edit{replace(policy, "ServerSideApply=true", "ServerSideApply=false")},
		"application", []string{"ServerSideApply=true"},
	},
	"replace instead of apply": {
		[]string{"direct"}, []edit{replace(policy, "ServerSideApply=true", "ServerSideApply=true, Replace=true")},
		"application", []string{"Replace=true", "remove"},
	},
	"another comparison": {
		[]string{"direct"}, []edit{replace(policy, "ServerSideDiff=true", "ServerSideDiff=false")},
		"application", []string{"ServerSideDiff=true"},
	},
	"no finalizer": {
		[]string{"direct"}, []edit{replace(policy, `(?s)  finalizers:.*?\nspec`, "spec")},
		"application", []string{"resources-finalizer.argocd.argoproj.io"},
	},
	"a label that the health check does not know": {
		[]string{"direct"}, []edit{replace(policy, "part-of: memcached-operator", "part-of: memcached")},
		"application", []string{"app.kubernetes.io/part-of: memcached-operator"},
	},
	"several sources": {
		[]string{"direct"}, []edit{replace(samplesApp, `spec:\n`, "spec:\n  sources: [{repoURL: x, path: y}]\n")},
		"application", []string{"memcached-samples", "spec.sources"},
	},
	"a repository of its own": {
		[]string{"direct"}, []edit{
			unselect(`\[spec\.source\.repoURL\]`),
			replace(policy, "repoURL: from-settings", "repoURL: https://git.acme.test/other.git"),
		},
		"application", []string{"repoURL", "https://git.acme.test/other.git"},
	},
	"a revision of its own": {
		[]string{"direct"}, []edit{
			unselect(`\[spec\.source\.targetRevision\]`),
			replace(policy, "targetRevision: from-settings", "targetRevision: other"),
		},
		"application", []string{"targetRevision", `"other"`},
	},
	"a namespace where Argo CD does not look": {
		[]string{"direct"}, []edit{replace(settings, `(- select: \{kind: Application\})(\n +fieldPaths: \[metadata\.namespace\])`, "- select: {kind: Nothing}$2")},
		"application", []string{`is in namespace ""`, `"argocd"`},
	},
	"a wave that is a word": {
		[]string{"direct"}, []edit{replace(samplesApp, `sync-wave: "3"`, "sync-wave: three")},
		"wave", []string{samplesApp, `"three"`, "number"},
	},
	"a value that no setting has filled": {
		[]string{"direct"}, []edit{unselect(`\[spec\.source\.targetRevision\]`)},
		"leftover", []string{"memcached-root", "spec.source.targetRevision", "from-settings"},
	},
}
