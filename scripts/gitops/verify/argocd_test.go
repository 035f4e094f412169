package verify

const (
	existingMap = "gitops/bootstrap/argocd/existing/argocd-cm.yaml"
	instance    = "gitops/bootstrap/argocd/instance/kustomization.yaml"
	argoCDFile  = "gitops/bootstrap/argocd/instance/argocd.yaml"

	certManager = "gitops/platform/cert-manager/kustomization.yaml"
)

// outside are mistakes outside of the trees: in the settings of Argo CD, and the releases.
var outside = map[string]broken{
	"an architecture that has no overlay":                {"", "", "architecture", []string{"gitops/settings/settings.yaml", `"amd46"`, "amd64, arm64"}, []edit{replace("gitops/settings/settings.yaml", `architecture: .*`, "architecture: amd46")}},
	"tracking by label":                                  {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", `"label"`, "annotation"}, []edit{replace(existingMap, "Method: annotation", "Method: label")}},
	"a ConfigMap that Argo CD does not read":             {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", "argocd-cm", "not found"}, []edit{replace(existingMap, "part-of: argocd", "part-of: argo")}},
	"no ConfigMap":                                       {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", "holds no ConfigMap argocd-cm"}, []edit{replace(existingMap, "name: argocd-cm", "name: argocd")}},
	"tracking by label in the resource":                  {"", "", "argocd", []string{argoCDFile, `"label"`, "annotation"}, []edit{replace(argoCDFile, "Method: annotation", "Method: label")}},
	"a check that only argocd-cm has":                    {"", "", "argocd", []string{argoCDFile, "lacks the health check of operators.coreos.com/Subscription"}, []edit{replace(argoCDFile, `.*kind: Subscription,.*\n`, ""), replace(instance, `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, fieldPath: \S*_Subscription\}.*?check"\]\n`, "")}},
	"two checks of one kind":                             {"", "", "argocd", []string{argoCDFile, "operators.coreos.com/Subscription differs"}, []edit{replace(instance, `_Subscription`, "_CatalogSource")}},
	"a check that only the resource has":                 {"", "", "argocd", []string{"argocd-cm lacks the health check of operators.coreos.com/Subscription"}, []edit{replace(existingMap, `_Subscription: `, "_X: "), replace(instance, `argocd-cm, fieldPath: \S*_Subscription`, `argocd-cm, fieldPath: data.resource\.customizations\.health\.operators\.coreos\.com_CatalogSource`)}},
	"a setting that only argocd-cm has":                  {"", "", "argocd", []string{argoCDFile, "timeout.reconciliation", `"60s"`}, []edit{replace(existingMap, `data:\n`, "data:\n  timeout.reconciliation: 60s\n")}},
	"a check that nothing has filled":                    {"", "", "argocd", []string{argoCDFile, "still \"from-health\""}, []edit{replace(instance, `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, fieldPath: \S*_Subscription\}.*?check"\]\n`, "")}},
	"a folder of Argo CD's settings that can't be built": {"", "", "argocd", []string{"gitops/bootstrap/argocd/instance", "gone.yaml", "kubectl kustomize"}, []edit{replace(instance, `- argocd\.yaml`, "- gone.yaml")}},
	"the newest release":                                 {"", "", "release", []string{certManager, "not pinned", `"latest"`}, []edit{replace(certManager, `download/v[\d.]+`, "latest/download")}},
	"a version that is not listed":                       {"", "", "release", []string{certManager, "v9.9.9", "does not list it", "-update"}, []edit{replace(certManager, `download/v[\d.]+`, "download/v9.9.9")}},
	"a release that is not used":                         {"", "", "release", []string{"gitops/sources.json", "no kustomization names"}, []edit{replace(certManager, `download/v[\d.]+`, "download/v9.9.9")}},
}
