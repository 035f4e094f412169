package verify

const (
	existingMap = "gitops/bootstrap/argocd/existing/argocd-cm.yaml"
	instance    = "gitops/bootstrap/argocd/instance/kustomization.yaml"
	argoCDFile  = "gitops/bootstrap/argocd/instance/argocd.yaml"

	// copied matches the replacement that fills an ArgoCD resource from argocd-cm.
	copied = `(?s)  - source: \{kind: ConfigMap, name: argocd-cm, .*?extraConfig\][^\n]*\n`

	certManager = "gitops/platform/cert-manager/kustomization.yaml"
)

// outside are mistakes outside of the trees: in the settings of Argo CD, and the releases.
var outside = map[string]broken{
	"an architecture that has no overlay": {"", "", "architecture", []string{"gitops/settings/settings.yaml", `"amd46"`, "amd64, arm64"},
		[]edit{replace("gitops/settings/settings.yaml", `architecture: .*`, "architecture: amd46")}},
	"tracking by label": {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", `"label"`, "annotation"}, []edit{replace(existingMap, "Method: annotation", "Method: label")}},
	"a ConfigMap that Argo CD does not read": {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", "argocd-cm", "not found"},
		[]edit{replace(existingMap, "part-of: argocd", "part-of: argo")}},
	"no ConfigMap": {"", "", "argocd", []string{"gitops/bootstrap/argocd/existing", "has no ConfigMap argocd-cm"}, []edit{replace(existingMap, "name: argocd-cm", "name: argocd")}},
	"an ArgoCD resource of OpenShift GitOps without the settings": {"", "", "argocd", []string{"argocd/openshift/argocd.yaml", "still \"from-existing\""},
		[]edit{replace("gitops/bootstrap/argocd/openshift/kustomization.yaml", copied, "")}},
	"a field that ArgoCD resources do not have": {"", "", "argocd", []string{argoCDFile, "argocd-operator v", "spec.notification: unknown field"},
		[]edit{replace(argoCDFile, "notifications:", "notification:")}},
	"a setting that Argo CD does not know": {"", "", "argocd", []string{existingMap, "Argo CD v3.6", "unknown setting timeout.reconciling"},
		[]edit{replace(existingMap, `data:\n`, "data:\n  timeout.reconciling: 60s\n")}},
	"a folder of Argo CD's settings that can't be built": {"", "", "argocd", []string{"gitops/bootstrap/argocd/instance", "gone.yaml", "kubectl kustomize"},
		[]edit{replace(instance, `- argocd\.yaml`, "- gone.yaml")}},
	"the newest release":           {"", "", "release", []string{certManager, "latest", "not pinned"}, []edit{replace(certManager, `download/v[\d.]+`, "latest/download")}},
	"a version that is not listed": {"", "", "release", []string{certManager, "v9.9.9", "does not list it", "-update"}, []edit{replace(certManager, `download/v[\d.]+`, "download/v9.9.9")}},
	"a release that is not used":   {"", "", "release", []string{"gitops/sources.json", "no kustomization names"}, []edit{replace(certManager, `download/v[\d.]+`, "download/v9.9.9")}},
}
