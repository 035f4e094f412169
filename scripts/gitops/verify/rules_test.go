package verify

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	policy       = "gitops/settings/policy.yaml"
	samplesApp   = "gitops/apps/base/samples.yaml"
	project      = "gitops/bootstrap/base/projects.yaml"
	olmV1Project = "gitops/bootstrap/olm-v1/projects.yaml"
	operatorApp  = "gitops/bootstrap/direct/kustomization.yaml"
	samples      = "gitops/samples/kustomization.yaml"
	sample       = "operator/config/samples/cache_v1_memcached.yaml"
	settings     = "gitops/settings/kustomization.yaml"
	subscription = "gitops/operator/subscription/subscription.yaml"
	extension    = "gitops/operator/olm-v1/clusterextension.yaml"
	manager      = "operator/config/manager/manager.yaml"

	byOLM       = "gitops/operator/subscription/kustomization.yaml"
	direct      = "gitops/apps/direct/kustomization.yaml"
	otherDigest = "registry.acme.test/catalog@sha256:1111111111111111111111111111111111111111111111111111111111111111"
)

// broken is a mistake in the repository, and what verify must report about it.
type broken struct {
	method, variant string // where the mistake shows; the variant is an architecture, amd64 by default, and +option
	rule            string
	words           []string
	edits           []edit
}

// mistakes has at least one mistake for each rule of a tree.
var mistakes = map[string]broken{
	// Applications.
	"a field that Applications do not have":                     {"direct", "", "schema", []string{samplesApp, "memcached-samples", "Argo CD v3.6", "spec.projects: unknown field", "correct or remove"}, []edit{replace(samplesApp, `spec:\n`, "spec:\n  projects: x\n")}},
	"a field that AppProjects do not have":                      {"direct", "", "schema", []string{project, "spec.sources: unknown field"}, []edit{replace(project, `spec:\n`, "spec:\n  sources: []\n")}},
	"a field that only the newer of the supported Argo CDs has": {"direct", "", "schema", []string{samplesApp, "Argo CD v3.5", "disableExtensionFilter: unknown field"}, []edit{replace(samplesApp, "path: gitops/samples", "path: gitops/samples\n    directory: {disableExtensionFilter: true}")}},
	"a path that is not there":                                  {"direct", "", "complete", []string{samplesApp, `"gitops/sample"`, "from the root"}, []edit{replace(samplesApp, "gitops/samples", "gitops/sample")}},
	"a folder that can't be built":                              {"direct", "", "complete", []string{"gitops/samples", "gone.yaml", "kubectl kustomize"}, []edit{replace(samples, `- namespace\.yaml`, "- gone.yaml")}},
	"an install method without a root":                          {"direct", "", "complete", []string{"gitops/bootstrap/direct"}, []edit{replace("gitops/bootstrap/base/root.yaml", `(?s)kind: Application\nmetadata`, "kind: AppProject\nmetadata")}},
	"an install method with two roots":                          {"direct", "", "complete", []string{"a second root", "gitops/apps"}, []edit{replace("gitops/bootstrap/base/kustomization.yaml", `  - root\.yaml`, "  - root.yaml\n  - other.yaml"), write("gitops/bootstrap/base/other.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: other}\n"+"spec: {project: x, source: {path: x, repoURL: x}, destination: {namespace: x}}\n")}},
	"no retry":                                                  {"direct", "", "application", []string{"memcached-samples", "syncPolicy.retry", policy}, []edit{replace(policy, `limit: \d+`, "limit: 0")}},
	"no backoff":                                                {"direct", "", "application", []string{"memcached-samples", "backoff"}, []edit{replace(policy, `backoff: .*`, "")}},
	"no self-healing":                                           {"direct", "", "application", []string{"selfHeal"}, []edit{replace(policy, "selfHeal: true", "selfHeal: false")}},
	"no sync policy":                                            {"direct", "", "application", []string{"automated"}, []edit{replace(policy, `(?s)  syncPolicy:.*`, "")}},
	"client-side apply":                                         {"direct", "", "application", []string{"ServerSideApply=true"}, []edit{replace(policy, "ServerSideApply=true", "ServerSideApply=false")}},
	"replace instead of apply":                                  {"direct", "", "application", []string{"Replace=true", "remove"}, []edit{replace(policy, "ServerSideApply=true", "ServerSideApply=true, Replace=true")}},
	"another comparison":                                        {"direct", "", "application", []string{"ServerSideDiff=true"}, []edit{replace(policy, "ServerSideDiff=true", "ServerSideDiff=false")}},
	"no finalizer":                                              {"direct", "", "application", []string{"resources-finalizer.argocd.argoproj.io"}, []edit{replace(policy, `(?s)  finalizers:.*?\nspec`, "spec")}},
	"a label that the health check does not know":               {"direct", "", "application", []string{"app.kubernetes.io/part-of: memcached-operator"}, []edit{replace(policy, "part-of: memcached-operator", "part-of: memcached")}},
	"several sources":                                           {"direct", "", "application", []string{"memcached-samples", "spec.sources"}, []edit{replace(samplesApp, `spec:\n`, "spec:\n  sources: [{repoURL: x, path: y}]\n")}},
	"its own repository":                                        {"direct", "", "application", []string{"repoURL", "https://git.acme.test/other.git"}, []edit{unselect(`\[spec\.source\.repoURL\]`), replace(policy, "repoURL: from-settings", "repoURL: https://git.acme.test/other.git")}},
	"its own revision":                                          {"direct", "", "application", []string{"targetRevision", `"other"`}, []edit{unselect(`\[spec\.source\.targetRevision\]`), replace(policy, "targetRevision: from-settings", "targetRevision: other")}},
	"a namespace where Argo CD does not look":                   {"direct", "", "application", []string{`metadata.namespace is ""`, `"argocd"`}, []edit{replace(settings, `(- select: \{kind: Application\})(\n +fieldPaths: \[metadata\.namespace\])`, "- select: {kind: Nothing}$2")}},
	"a wave that is a word":                                     {"direct", "", "wave", []string{samplesApp, `"three"`, "number"}, []edit{replace(samplesApp, `sync-wave: "3"`, "sync-wave: three")}},
	"a value that no setting has filled":                        {"direct", "", "leftover", []string{"memcached-root", "spec.source.targetRevision", "from-settings"}, []edit{unselect(`\[spec\.source\.targetRevision\]`)}},

	// AppProjects.
	"a project that is not there":                          {"direct", "", "project", []string{samplesApp, `"default"`, "memcached-root, memcached-samples"}, []edit{replace(samplesApp, "project: memcached-samples", "project: default")}},
	"a project that no Application uses":                   {"direct", "", "project", []string{project, "memcached-samples", "no Application"}, []edit{replace(samplesApp, "project: memcached-samples", "project: memcached-root")}},
	"the project default that permits something":           {"direct", "amd64+default-project", "project", []string{"default-project.yaml", "every Application"}, []edit{replace("gitops/bootstrap/base/default-project.yaml", `destinations: \[\]`, "destinations: [{server: x, namespace: y}]")}},
	"a wildcard in the destinations":                       {"direct", "", "project", []string{project, "memcached-*", "wildcard"}, []edit{replace(project, "namespace: memcached-samples", "namespace: memcached-*")}},
	"a wildcard in the kinds":                              {"direct", "", "project", []string{project, `"*"`, "wildcard"}, []edit{replace(project, "kind: Memcached}", `kind: "*"}`)}},
	"a wildcard in the repositories":                       {"direct", "", "project", []string{project, "https://git.acme.test/*"}, []edit{replace(project, "    - from-settings", "    - from-settings\n    - https://git.acme.test/*")}},
	"no list of kinds, which is all of them":               {"direct", "", "project", []string{project, "namespaceResourceWhitelist", "every kind"}, []edit{replace(project, `(?s)  namespaceResourceWhitelist:.*`, "")}},
	"a project that Argo CD refuses":                       {"direct", "", "project", []string{project, "invalid", "already added"}, []edit{replace(project, `(    - \{server.*\n)`, "$1$1")}},
	"a project in a namespace where Argo CD does not look": {"direct", "", "project", []string{project, `namespace ""`}, []edit{replace(settings, `(- select: \{kind: AppProject\})(\n +fieldPaths: \[metadata\.namespace\])`, "- select: {kind: Nothing}$2")}},
	"a repository that the project does not name":          {"direct", "", "permission", []string{"memcached-samples", "sourceRepos", project}, []edit{unselect(`\[spec\.sourceRepos\.0\]`), replace(project, "- from-settings", "- https://git.acme.test/other.git")}},
	"a destination that the project does not name":         {"direct", "", "permission", []string{"memcached-samples", "destination", project}, []edit{replace(project, "namespace: memcached-samples", "namespace: default")}},
	"a kind that the project does not name":                {"direct", "", "permission", []string{"Memcached memcached-samples/memcached-sample", "namespaceResourceWhitelist", project}, []edit{replace(project, "kind: Memcached}", "kind: Redis}")}},
	"a kind of the cluster that the project does not name": {"direct", "", "permission", []string{"Namespace memcached-samples", "clusterResourceWhitelist"}, []edit{replace(project, "kind: Namespace}", "kind: Node}")}},
	"a namespace of another project's release":             {"olm-v1", "", "permission", []string{"cert-manager.yaml", "kube-system/", "destinations"}, []edit{replace(olmV1Project, "namespace: kube-system", "namespace: kube-public")}},
	"an unknown kind":                                      {"direct", "", "order-of-kinds", []string{"gitops/samples/widget.yaml", "Widget w", "example.org", "sources.json"}, []edit{replace(samples, `  - namespace\.yaml`, "  - namespace.yaml\n  - widget.yaml"), write("gitops/samples/widget.yaml", "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w}\n")}},

	"a second operator without the right to its PodDisruptionBudget": {"direct", "multiarch+two-replicas", "permission", []string{"PodDisruptionBudget", "namespaceResourceWhitelist"}, []edit{replace(operatorApp, `.*PodDisruptionBudget\}\n`, "")}},
	"an ingress of the console without a login":                      {"olm", "amd64+ingress", "complete", []string{"gitops/console", "console-oidc"}, nil},

	// Order.
	"caches before their CRD":                        {"direct", "", "order-of-kinds", []string{"memcached-sample", "is in wave 1", "Application memcached-operator", "in wave 2", "later wave"}, []edit{replace(samplesApp, `sync-wave: "3"`, `sync-wave: "1"`)}},
	"caches with the operator that OLM installs":     {"olm", "", "order-of-kinds", []string{"memcached-sample", "is in wave 2", "Application memcached-operator", "in wave 2"}, []edit{replace(samplesApp, `sync-wave: "3"`, `sync-wave: "2"`)}},
	"a Subscription before OLM":                      {"olm", "", "order-of-kinds", []string{"Subscription memcached-operator-system/memcached-operator", "in wave 0", "Application olm"}, []edit{replace("gitops/apps/base/operator.yaml", `sync-wave: "2"`, `sync-wave: "0"`)}},
	"a cache in the Application of the Subscription": {"openshift", "", "order-of-kinds", []string{"Memcached", "Subscription memcached-operator-system/memcached-operator", "some time after"}, []edit{replace(byOLM, `  - subscription\.yaml`, "  - subscription.yaml\n  - ../../../operator/config/samples")}},
	"a cache before the CRD in the same Application": {"direct", "", "order-of-kinds", []string{"Memcached", "is in wave 0", "CustomResourceDefinition memcacheds.cache.example.com", "wave 1"}, []edit{replace(settings, `annotations:`, "annotations:\n          argocd.argoproj.io/sync-wave: \"1\""), replace("gitops/operator/direct/kustomization.yaml", `components:`, "resources:\n  - ../../../operator/config/samples\ncomponents:")}},
	"no operator":                                            {"olm-v1", "", "order-of-kinds", []string{"Memcached memcached-samples/memcached-sample", "no Application of this install method defines its kind"}, []edit{replace(extension, `packageName: .*`, "packageName: other")}},
	"a namespace that no Application makes":                  {"direct", "", "order-of-namespaces", []string{"Memcached memcached-samples/memcached-sample", "no Application makes the namespace memcached-samples"}, []edit{replace(samples, `  - namespace\.yaml\n`, "")}},
	"a namespace after what is in it":                        {"direct", "", "order-of-namespaces", []string{"memcached-sample", "is in wave 0", "which makes its namespace, is in wave 5"}, []edit{replace("gitops/samples/namespace.yaml", `  annotations:`, "  annotations:\n    argocd.argoproj.io/sync-wave: \"5\"")}},
	"a namespace of a later Application":                     {"olm-v1", "", "order-of-namespaces", []string{"Certificate cert-manager/", "Application cert-manager, which makes its namespace"}, []edit{replace("gitops/apps/olm-v1/platform.yaml", `sync-wave: "1"`, `sync-wave: "0"`)}},
	"a ClusterExtension that installs into such a namespace": {"olm-v1", "", "order-of-namespaces", []string{"ClusterExtension memcached-operator", "the namespace elsewhere"}, []edit{replace(extension, `namespace: memcached-operator-system`, "namespace: elsewhere")}},
	"an object of two Applications":                          {"openshift", "", "owner", []string{"Namespace memcached-operator-system", "Application memcached-operator"}, []edit{replace(samples, "namespace: memcached-samples", "namespace: memcached-operator-system")}},

	// Images and objects.
	"a CatalogSource with its own catalog":        {"olm", "", "image", []string{"CatalogSource", otherDigest, "sha256:777", "gitops/settings"}, []edit{unselect(`\[spec\.image\]`), replace(subscription, "image: from-settings", "image: "+otherDigest)}},
	"a ClusterCatalog with its own catalog":       {"olm-v1", "", "image", []string{"ClusterCatalog", otherDigest, "sha256:777"}, []edit{unselect(`\[spec\.source\.image\.ref\]`), replace(extension, "ref: from-settings", "ref: "+otherDigest)}},
	"an operator of another version":              {"direct", "", "image", []string{"Deployment memcached-operator-system/memcached-operator-controller-manager", "operator's image", "memcached-operator:7.0.0"}, []edit{unselect(`\["spec\.template\.spec\.containers\.\[name=manager\]\.image"\]`)}},
	"another memcached image for the operator":    {"direct", "", "image", []string{"memcached image", "registry.acme.test/memcached:7"}, []edit{unselect(`\["spec\.template\.spec\.containers\.\[name=manager\]\.env\.\[name=RELATED_IMAGE_MEMCACHED\]\.value"\]`)}},
	"a Subscription without the agent's image":    {"olm", "", "image", []string{"Subscription", "agent's image", `""`}, []edit{unselect(`\["spec\.config\.env\.\[name=RELATED_IMAGE_AGENT\]\.value"\]`), replace(subscription, `RELATED_IMAGE_AGENT`, "RELATED_IMAGE")}},
	"whatever is newest":                          {"direct", "", "newest", []string{"Memcached", "memcached:latest", "no version or digest"}, []edit{replace(sample, "size: 3", "size: 3\n  image: docker.io/library/memcached:latest")}},
	"no operator at all":                          {"direct", "", "image", []string{"no Application of this install method installs the operator"}, []edit{replace("gitops/apps/base/kustomization.yaml", `  - operator\.yaml.*\n`, "")}},
	"a CRD that goes with its Application":        {"direct", "", "keep", []string{"CustomResourceDefinition memcacheds.cache.example.com", "every object of its kind", "Prune=false,Delete=false"}, []edit{replace(settings, "Prune=false,Delete=false", "Prune=false")}},
	"a namespace that takes the caches along":     {"direct", "", "keep", []string{"Namespace memcached-samples", "the caches in it"}, []edit{replace("gitops/samples/namespace.yaml", "Prune=false,Delete=false", "Delete=false")}},
	"a ClusterExtension that takes the CRD along": {"olm-v1", "", "keep", []string{"ClusterExtension memcached-operator", "all caches"}, []edit{replace(extension, `Prune=false,Delete=false`, "Delete=false")}},
	"a field that caches do not have":             {"direct", "", "schema", []string{sample, "spec.replicas", "unknown field"}, []edit{replace(sample, "size: 3", "size: 3\n  replicas: 3")}},
	"a value that a cache can't have":             {"direct", "", "schema", []string{"memcached-sample", "spec.size", "integer"}, []edit{replace(samples, "value: 3", "value: minus one")}},

	// Architectures.
	"caches on other Nodes than the operator, by OLM":              {"openshift", "s390x", "architecture", []string{"Subscription", "OPERAND_ARCHITECTURES", `"ppc64le"`, "architecture s390x", `"s390x"`}, []edit{replace(settings, `.*OPERAND_ARCHITECTURES.*\n`, ""), replace(subscription, "ARCHITECTURES, value: from-settings", "ARCHITECTURES, value: ppc64le")}},
	"caches on any Node, by OLM":                                   {"olm", "arm64", "architecture", []string{"Subscription", "OPERAND_ARCHITECTURES", `is ""`, `"arm64"`}, []edit{replace(subscription, "OPERAND_ARCHITECTURES", "ARCHITECTURES"), replace(settings, `.*OPERAND_ARCHITECTURES.*\n`, "")}},
	"an operator on one architecture where all are chosen, by OLM": {"olm", "multiarch", "architecture", []string{"Subscription", "the node selector", `"arm64"`, "multiarch", `""`}, []edit{replace(byOLM, `\{op: remove, path: /spec/config/nodeSelector\}`, "{op: add, path: /spec/config/nodeSelector, value: {kubernetes.io/arch: arm64}}")}},
	"the overlay of one architecture where all are chosen":         {"direct", "multiarch", "architecture", []string{"Deployment", "OPERAND_ARCHITECTURES", `"arm64"`, "multiarch", `"amd64,arm64,ppc64le,s390x"`}, []edit{replace(direct, "overlays/from-settings", "overlays/arm64"), replace(direct, `(?s)replacements:.*`, "")}},
	"an operator that may not run on one of them":                  {"direct", "multiarch", "architecture", []string{"Deployment", "the node affinity", `"amd64,arm64,ppc64le"`, `"amd64,arm64,ppc64le,s390x"`}, []edit{replace(manager, `values: \[amd64, arm64, ppc64le, s390x\]`, "values: [amd64, arm64, ppc64le]")}},
	"an operator that may run on others":                           {"direct", "ppc64le", "architecture", []string{"Deployment", "the node affinity", `"ppc64le,s390x"`, `"ppc64le"`}, []edit{replace("overlays/components/architecture/kustomization.yaml", `values: \[from-overlay\]`, "values: [from-overlay, s390x]")}},
	"an operator that is confined by a node selector, too":         {"direct", "amd64", "architecture", []string{"Deployment", "the node affinity", `"amd64,s390x"`, `"amd64"`}, []edit{replace(manager, `      serviceAccountName:`, "      nodeSelector: {kubernetes.io/arch: s390x}\n      serviceAccountName:")}},
	"a Subscription that confines the operator by an affinity":     {"olm", "multiarch", "architecture", []string{"Subscription", "the node selector", `"arm64"`}, []edit{replace(subscription, `  config:\n`, "  config:\n"+"    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "+"[{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}]}}}\n")}},
	"a path that the settings do not choose":                       {"direct", "arm64", "leftover", []string{"memcached-operator", "spec.source.path", "overlays/from-settings"}, []edit{replace(direct, `(?s)replacements:.*`, "")}},
	"a source with other options":                                  {"direct", "", "complete", []string{"memcached-operator", `unknown field "forceCommonLabels"`}, []edit{replace(direct, `value: \{components: `, "value: {forceCommonLabels: true, components: ")}},
	"another cluster, by its name":                                 {"direct", "", "application", []string{"memcached-samples", "names another cluster", `name "other"`, "in-cluster"}, []edit{replace(samplesApp, `destination:\n`, "destination:\n    name: other\n"), replace(policy, `  destination:\n    server: .*\n`, "")}},
	"another cluster, by its server":                               {"direct", "", "application", []string{"memcached-samples", "names another cluster", "https://other"}, []edit{replace(samplesApp, `destination:\n`, "destination:\n    server: https://other\n"), replace(policy, `  destination:\n    server: .*\n`, "")}},
	"a Helm chart":                                                 {"direct", "", "complete", []string{"memcached-samples", "Helm chart", "helm template"}, []edit{replace(samplesApp, `source:\n`, "source:\n    helm: {releaseName: x}\n")}},
	"a source with a component that is not there":                  {"direct", "", "complete", []string{"overlays/amd64", "gone"}, []edit{replace(direct, "gitops/operator/direct]", "gone]")}},
}

func TestEachMistakeIsFound(t *testing.T) {
	all := maps.Clone(mistakes)
	maps.Copy(all, outside)
	for name, tc := range all {
		t.Run(name, func(t *testing.T) {
			o := Options{Files: apply(t, taken(t), tc.edits...), variants: []variant{}}
			if tc.method != "" {
				choices := strings.Split(cmp.Or(tc.variant, "amd64"), "+")
				o.Methods, o.variants = []string{tc.method}, []variant{{architecture: choices[0], options: choices[1:]}}
			}
			found(t, verified(t, o), tc.rule, tc.words)
		})
	}
	// For each rule, of a tree or not, there is a mistake that breaks it.
	names := []string{"argocd", "release"}
	for _, rule := range rules {
		names = append(names, rule.name)
	}
	for _, name := range names {
		if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(b broken) bool { return b.rule == name }) {
			t.Errorf("no mistake shows that the rule %q fails", name)
		}
	}
}
