package verify

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

const (
	existing    = "gitops/bootstrap/argocd/health/kustomization.yaml"
	existingMap = "gitops/bootstrap/argocd/health/argocd-cm.yaml"
	instance    = "gitops/bootstrap/argocd/instance/kustomization.yaml"
	argoCDFile  = "gitops/bootstrap/argocd/instance/argocd.yaml"
	lua         = "gitops/bootstrap/argocd/health/"
)

func TestMistakesInTheSettingsOfArgoCDAreFound(t *testing.T) {
	tests := map[string]struct {
		edits []edit
		words []string
	}{
		"tracking by label": {
			[]edit{replace(existingMap, "Method: annotation", "Method: label")},
			[]string{"gitops/bootstrap/argocd/existing", `"label"`, "annotation"},
		},
		"a ConfigMap that Argo CD does not read": {
			[]edit{replace(existingMap, "part-of: argocd", "part-of: argo")},
			[]string{"gitops/bootstrap/argocd/existing", "argocd-cm", "not found"},
		},
		"no ConfigMap": {
			[]edit{replace(existingMap, "name: argocd-cm", "name: argocd")},
			[]string{"gitops/bootstrap/argocd/existing", "argocd-cm", "does not exist"},
		},
		"tracking by label in the resource": {
			[]edit{replace(argoCDFile, "Method: annotation", "Method: label")},
			[]string{argoCDFile, `"label"`, "annotation"},
		},
		"a check that only argocd-cm has": {
			[]edit{
				replace(argoCDFile, `.*kind: Subscription,.*\n`, ""),
				replace(instance, `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, fieldPath: \S*_Subscription\}.*?check"\]\n`, ""),
			},
			[]string{argoCDFile, "lacks the check of operators.coreos.com/Subscription"},
		},
		"a check that only the resource has": {
			[]edit{
				replace(existing, `.*=subscription.lua\n`, ""),
				replace(instance, `argocd-cm, fieldPath: \S*_Subscription`, `argocd-cm, fieldPath: data.resource\.customizations\.health\.operators\.coreos\.com_CatalogSource`),
			},
			[]string{"argocd-cm lacks the health check of operators.coreos.com/Subscription"},
		},
		"two checks of one kind": {
			[]edit{replace(instance, `_Subscription`, "_CatalogSource")},
			[]string{argoCDFile, "operators.coreos.com/Subscription differs"},
		},
		"a setting that only argocd-cm has": {
			[]edit{replace(existingMap, `data:\n`, "data:\n  timeout.reconciliation: 60s\n")},
			[]string{argoCDFile, "timeout.reconciliation", `"60s"`},
		},
		"a setting that only the resource has": {
			[]edit{replace(argoCDFile, `spec:\n`, "spec:\n  extraConfig: {timeout.reconciliation: 60s}\n"), replace(argoCDFile, `(?s)  extraConfig:\n.*?  usersAnon`, "  usersAnon")},
			[]string{argoCDFile, "timeout.reconciliation", `"60s"`},
		},
		"a check that nothing has filled": {
			[]edit{replace(instance, `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, fieldPath: \S*_Subscription\}.*?check"\]\n`, "")},
			[]string{argoCDFile, "still \"from-health\""},
		},
		"a folder that can't be built": {
			[]edit{replace(instance, `- namespace\.yaml`, "- gone.yaml")},
			[]string{"gitops/bootstrap/argocd/instance", "gone.yaml", "kubectl kustomize"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			report := verified(t, Options{Files: apply(t, taken(t), tc.edits...), variants: []variant{}})
			found(t, report, "argocd", tc.words)
		})
	}
}

// found makes sure that there is a problem of a rule with all of the words.
func found(t *testing.T, report Report, rule string, words []string) {
	t.Helper()
	for _, p := range report.Problems {
		if p.Rule == rule && containsAll(p.String(), words) {
			expect(t, p, Error, rule, words)
			return
		}
	}
	t.Errorf("no problem of the rule %q with %q: %v", rule, words, report.Problems)
}

func TestChecksThatAreWrongFailTheirFixtures(t *testing.T) {
	tests := map[string]struct {
		edit  edit
		words []string
	}{
		"Memcached, without a look at the generation":        {replace(lua+"memcached.lua", `observedGeneration ~= obj`, "observedGeneration == nil and obj"), []string{"memcached/stale.yaml", "Healthy"}},
		"Memcached, Stalled or not":                          {replace(lua+"memcached.lua", `"Stalled"`, `"Broken"`), []string{"memcached/degraded.yaml", "Progressing"}},
		"Application, synced or not":                         {replace(lua+"application.lua", `status\.sync\.status ~= "Synced" or `, ""), []string{"application/out-of-sync.yaml", "Healthy"}},
		"Application, of whichever revision":                 {replace(lua+"application.lua", `compared ~= nil and `, "false and "), []string{"application/stale.yaml", "Healthy"}},
		"Application, of another tree":                       {replace(lua+"application.lua", `~= "memcached-operator"`, `== "nobody"`), []string{"application/foreign-out-of-sync.yaml", "Progressing"}},
		"CatalogSource, before OLM reads it":                 {replace(lua+"catalogsource.lua", `"READY"`, `"CONNECTING"`), []string{"catalogsource/healthy.yaml", "catalogsource"}},
		"ClusterServiceVersion, failed":                      {replace(lua+"clusterserviceversion.lua", `"Failed"`, `"Broken"`), []string{"clusterserviceversion/degraded.yaml"}},
		"Subscription, an upgrade that waits":                {replace(lua+"subscription.lua", `"Manual"`, `"Never"`), []string{"subscription/upgrade-that-waits.yaml", "Progressing"}},
		"ClusterCatalog, of the spec before":                 {replace(lua+"clustercatalog.lua", `condition\.observedGeneration == obj\.metadata\.generation`, "true"), []string{"clustercatalog/stale.yaml", "Healthy"}},
		"ClusterExtension, of the spec before":               {replace(lua+"clusterextension.lua", `if condition\.observedGeneration == obj\.metadata\.generation then`, "if true then"), []string{"clusterextension/stale.yaml", "Healthy"}},
		"a check that is no Lua":                             {replace(lua+"memcached.lua", `return health`, "retrun health"), []string{"memcached/", "fails", "the check in"}},
		"a check with what Argo CD's engine does not let it": {replace(lua+"memcached.lua", `return health`, `return string.upper("x")`), []string{"memcached/", "fails"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			report := verified(t, Options{Files: apply(t, taken(t), tc.edit), variants: []variant{}})
			found(t, report, "health", tc.words)
		})
	}
}

func TestFixturesThatAreMissingOrWrongAreFound(t *testing.T) {
	const memcached = "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: a}\n"
	tests := map[string]struct {
		file, content string
		words         []string
	}{
		"a state without a fixture":         {"memcached/healthy.yaml", "", []string{"cache.example.com/Memcached", `"healthy"`, "add one"}},
		"a status of an older spec, too":    {"clusterextension/stale.yaml", "", []string{"ClusterExtension", `"stale generation"`}},
		"a fixture of a kind without check": {"configmap/x.yaml", "state: x\n---\napiVersion: v1\nkind: ConfigMap\n", []string{"configmap/x.yaml", "no health check"}},
		"a fixture in another folder":       {"memcached/x.yaml", "state: x\n---\napiVersion: v1\nkind: ConfigMap\n", []string{"memcached/x.yaml", "holds /ConfigMap"}},
		"a fixture of one document":         {"memcached/x.yaml", memcached, []string{"memcached/x.yaml", "one document"}},
		"an unknown expectation":            {"memcached/x.yaml", "expect: x\n---\n" + memcached, []string{"memcached/x.yaml", "expect"}},
		"a field that the kind lacks":       {"memcached/x.yaml", "state: x\nstatus: Progressing\n---\n" + memcached + "spec: {sise: 3}\n", []string{"spec.sise", "unknown field"}},
		"a field that Applications lack":    {"application/x.yaml", "state: x\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {projct: a}\n", []string{"application/x.yaml", "projct"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, fixtures()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, tc.file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(tc.content), 0o644)); err != nil {
				t.Fatal(err)
			}
			if tc.content == "" {
				os.Remove(file)
			}
			report := verified(t, Options{Files: taken(t), Fixtures: os.DirFS(dir), variants: []variant{}})
			found(t, report, "health", tc.words)
		})
	}
}

func TestMistakesInTheSourcesAreFound(t *testing.T) {
	const (
		certManager = "gitops/platform/cert-manager/kustomization.yaml"
		operator    = "gitops/bootstrap/argocd/operator/kustomization.yaml"
	)
	tests := map[string]struct {
		edit  edit
		words []string
	}{
		"whatever is newest":           {replace(certManager, `download/v[\d.]+`, "latest/download"), []string{certManager, "not pinned", `"latest"`}},
		"a branch":                     {replace(operator, `ref=v[\d.]+`, "ref=master"), []string{operator, "not pinned", "master"}},
		"a version that is not listed": {replace(certManager, `download/v[\d.]+`, "download/v9.9.9"), []string{certManager, "v9.9.9", "does not list it", "-update"}},
		"a release that is not used":   {replace(certManager, `download/v[\d.]+`, "download/v9.9.9"), []string{"gitops/sources.json", "no kustomization names"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			report := verified(t, Options{Files: apply(t, taken(t), tc.edit), variants: []variant{}})
			found(t, report, "release", tc.words)
		})
	}
}
