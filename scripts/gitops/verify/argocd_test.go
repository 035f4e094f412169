package verify

import (
	"strings"
	"testing"
	"testing/fstest"
)

const (
	existingMap = "gitops/bootstrap/argocd/health/argocd-cm.yaml"
	instance    = "gitops/bootstrap/argocd/instance/kustomization.yaml"
	argoCDFile  = "gitops/bootstrap/argocd/instance/argocd.yaml"
	lua         = "gitops/bootstrap/argocd/health/"

	certManager = "gitops/platform/cert-manager/kustomization.yaml"
)

// outside are mistakes outside of the trees: in the settings of Argo CD, its health checks and the releases.
var outside = map[string]broken{
	"tracking by label": {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", `"label"`, "annotation"},
		[]edit{replace(existingMap, "Method: annotation", "Method: label")}},
	"a ConfigMap that Argo CD does not read": {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", "argocd-cm", "not found"},
		[]edit{replace(existingMap, "part-of: argocd", "part-of: argo")}},
	"no ConfigMap": {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", "argocd-cm", "does not exist"},
		[]edit{replace(existingMap, "name: argocd-cm", "name: argocd")}},
	"tracking by label in the resource": {"", "", "argocd", []string{argoCDFile, `"label"`, "annotation"},
		[]edit{replace(argoCDFile, "Method: annotation", "Method: label")}},
	"a check that only argocd-cm has": {"", "", "argocd", []string{argoCDFile, "health check of operators.coreos.com/Subscription differs", `is ""`},
		[]edit{
			replace(argoCDFile, `.*kind: Subscription,.*\n`, ""),
			replace(instance, `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, fieldPath: \S*_Subscription\}.*?check"\]\n`, ""),
		}},
	"two checks of one kind": {"", "", "argocd", []string{argoCDFile, "operators.coreos.com/Subscription differs"},
		[]edit{replace(instance, `_Subscription`, "_CatalogSource")}},
	"a setting that only argocd-cm has": {"", "", "argocd", []string{argoCDFile, "timeout.reconciliation", `"60s"`},
		[]edit{replace(existingMap, `data:\n`, "data:\n  timeout.reconciliation: 60s\n")}},
	"a check that nothing has filled": {"", "", "argocd", []string{argoCDFile, "still \"from-health\""},
		[]edit{replace(instance, `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, fieldPath: \S*_Subscription\}.*?check"\]\n`, "")}},
	"a folder of Argo CD's settings that can't be built": {"", "", "argocd", []string{"gitops/bootstrap/argocd/instance", "gone.yaml", "kubectl kustomize"},
		[]edit{replace(instance, `- namespace\.yaml`, "- gone.yaml")}},
	"Memcached, without a look at the generation": {"", "", "health", []string{"memcached/stale.yaml", "Healthy"},
		[]edit{replace(lua+"memcached.lua", `observedGeneration ~= obj`, "observedGeneration == nil and obj")}},
	"Memcached, Stalled or not": {"", "", "health", []string{"memcached/degraded.yaml", "Progressing"},
		[]edit{replace(lua+"memcached.lua", `"Stalled"`, `"Broken"`)}},
	"Application, synced or not": {"", "", "health", []string{"application/out-of-sync.yaml", "Healthy"},
		[]edit{replace(lua+"application.lua", `status\.sync\.status ~= "Synced" or `, "")}},
	"Application, of whichever revision": {"", "", "health", []string{"application/stale.yaml", "Healthy"},
		[]edit{replace(lua+"application.lua", `compared ~= nil and `, "false and ")}},
	"Application, of another tree": {"", "", "health", []string{"application/foreign-out-of-sync.yaml", "Progressing"},
		[]edit{replace(lua+"application.lua", `~= "memcached-operator"`, `== "nobody"`)}},
	"CatalogSource, before OLM reads it": {"", "", "health", []string{"catalogsource/healthy.yaml", "catalogsource"},
		[]edit{replace(lua+"catalogsource.lua", `"READY"`, `"CONNECTING"`)}},
	"ClusterServiceVersion, failed": {"", "", "health", []string{"clusterserviceversion/degraded.yaml"},
		[]edit{replace(lua+"clusterserviceversion.lua", `"Failed"`, `"Broken"`)}},
	"Subscription, an upgrade that waits": {"", "", "health", []string{"subscription/upgrade-that-waits.yaml", "Progressing"},
		[]edit{replace(lua+"subscription.lua", `"Manual"`, `"Never"`)}},
	"ClusterCatalog, of the spec before": {"", "", "health", []string{"clustercatalog/stale.yaml", "Healthy"},
		[]edit{replace(lua+"clustercatalog.lua", `condition\.observedGeneration == obj\.metadata\.generation`, "true")}},
	"ClusterExtension, of the spec before": {"", "", "health", []string{"clusterextension/stale.yaml", "Healthy"},
		[]edit{replace(lua+"clusterextension.lua", `if condition\.observedGeneration == obj\.metadata\.generation then`, "if true then")}},
	"a check that is no Lua": {"", "", "health", []string{"memcached/", "fails", "the check in"},
		[]edit{replace(lua+"memcached.lua", `return health`, "retrun health")}},
	"a check with what Argo CD's engine does not let it": {"", "", "health", []string{"memcached/", "fails"},
		[]edit{replace(lua+"memcached.lua", `return health`, `return string.upper("x")`)}},
	"the newest release": {"", "", "release", []string{certManager, "not pinned", `"latest"`},
		[]edit{replace(certManager, `download/v[\d.]+`, "latest/download")}},
	"a version that is not listed": {"", "", "release", []string{certManager, "v9.9.9", "does not list it", "-update"},
		[]edit{replace(certManager, `download/v[\d.]+`, "download/v9.9.9")}},
	"a release that is not used": {"", "", "release", []string{"gitops/sources.json", "no kustomization names"},
		[]edit{replace(certManager, `download/v[\d.]+`, "download/v9.9.9")}},
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
			folder := fstest.MapFS{}
			for name, content := range repository(t) {
				if fixture, found := strings.CutPrefix(name, "scripts/gitops/testdata/health/"); found {
					folder[fixture] = &fstest.MapFile{Data: content}
				}
			}
			folder[tc.file] = &fstest.MapFile{Data: []byte(tc.content)}
			if tc.content == "" {
				delete(folder, tc.file)
			}
			report := verified(t, Options{Files: taken(t), Fixtures: folder, variants: []variant{}})
			found(t, report, "health", tc.words)
		})
	}
}
