package verify

import "testing"

const (
	directMultiarch = "gitops/operator/direct/multiarch/kustomization.yaml"
	byOLM           = "gitops/operator/base/subscription/architecture/kustomization.yaml"
	byOLMMultiarch  = "gitops/operator/subscription/multiarch/kustomization.yaml"
	patched         = "\npatches:\n  - target: {kind: Subscription}\n    patch: |-\n      - "
)

func TestMistakesInTheChoiceOfArchitecturesAreFound(t *testing.T) {
	tests := map[string]struct {
		way, architecture string
		edit              edit
		rule              string
		words             []string
	}{
		"caches on other machines than the operator, by OLM": {
			"openshift", "s390x", replace("gitops/operator/subscription/s390x/kustomization.yaml", `arch=s390x`, "arch=ppc64le"),
			"architecture", []string{"Subscription", "OPERAND_ARCHITECTURES", `"ppc64le"`, "architecture s390x", `"s390x"`},
		},
		"caches on any machine, by OLM": {
			"olm", "arm64", replace(byOLM, `.*OPERAND_ARCHITECTURES.*`, ""),
			"architecture", []string{"Subscription", "OPERAND_ARCHITECTURES", `is ""`, `"arm64"`},
		},
		"an operator on one architecture where all are chosen, by OLM": {
			"olm", "multiarch", replace(byOLMMultiarch, `(?s)$`, patched+"{op: add, path: /spec/config/nodeSelector, value: {kubernetes.io/arch: arm64}}\n"),
			"architecture", []string{"Subscription", "the node selector", `"arm64"`, "multiarch", `""`},
		},
		"caches on one architecture where all are chosen, by OLM": {
			"openshift", "multiarch", replace(byOLMMultiarch, `(?s)$`, patched+"{op: add, path: /spec/config/env/-, value: {name: OPERAND_ARCHITECTURES, value: arm64}}\n"),
			"architecture", []string{"Subscription", "OPERAND_ARCHITECTURES", `"arm64"`, "multiarch"},
		},
		"the overlay of one architecture where all are chosen": {
			"direct", "multiarch", replace(directMultiarch, "overlays/multiarch", "overlays/arm64"),
			"architecture", []string{"Deployment", "OPERAND_ARCHITECTURES", `"arm64"`, "multiarch", `"amd64,arm64,ppc64le,s390x"`},
		},
		"an operator that may not run on one of them": {
			"direct", "multiarch", replace("operator/config/manager/manager.yaml", `values: \[amd64, arm64, ppc64le, s390x\]`, "values: [amd64, arm64, ppc64le]"),
			"architecture", []string{"Deployment", "the node affinity", `"amd64,arm64,ppc64le"`, `"amd64,arm64,ppc64le,s390x"`},
		},
		"an operator that may run on others": {
			"direct", "ppc64le", replace("overlays/components/architecture/kustomization.yaml", `values: \[from-overlay\]`, "values: [from-overlay, s390x]"),
			"architecture", []string{"Deployment", "the node affinity", `"ppc64le,s390x"`, `"ppc64le"`},
		},
		"an operator that is confined by a node selector, too": {
			"direct", "amd64", replace("operator/config/manager/manager.yaml", `      serviceAccountName:`,
				"      nodeSelector: {kubernetes.io/arch: s390x}\n      serviceAccountName:"),
			"architecture", []string{"Deployment", "the node affinity", `"amd64,s390x"`, `"amd64"`},
		},
		"a Subscription that confines the operator by an affinity": {
			"olm", "multiarch", replace("gitops/operator/base/subscription/subscription.yaml", `  config:\n`, "  config:\n"+
				"    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "+
				"[{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}]}}}\n"),
			"architecture", []string{"Subscription", "the node selector", `"arm64"`},
		},
		"an operator that lets caches run anywhere": {
			"direct", "multiarch", replace("operator/config/manager/manager.yaml", `OPERAND_ARCHITECTURES`, "OPERAND"),
			"architecture", []string{"Deployment", "OPERAND_ARCHITECTURES", `is ""`, `"amd64,arm64,ppc64le,s390x"`},
		},
		"an architecture that one of the ways lacks": {
			"olm", "s390x", write("gitops/operator/subscription/s390x/kustomization.yaml", ""),
			"whole", []string{`"gitops/operator/subscription/s390x"`},
		},
		"a path that the settings do not choose": {
			"openshift", "arm64", replace("gitops/apps/overlays/openshift/kustomization.yaml", `(?s)replacements:.*`, ""),
			"leftover", []string{"memcached-operator", "spec.source.path", "gitops/operator/subscription/from-settings"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := apply(t, taken(t), tc.edit)
			report := verified(t, Options{
				Files: files, Ways: []string{tc.way}, variants: []variant{{architecture: tc.architecture}},
			})
			found(t, report, tc.rule, tc.words)
		})
	}
}

func TestASecondOperatorNeedsAProjectThatAllowsItsPodDisruptionBudget(t *testing.T) {
	with := Options{Files: taken(t), Ways: []string{"direct"}, variants: []variant{{architecture: "multiarch", options: []string{"two-replicas"}}}}
	for _, p := range verified(t, with).Problems {
		t.Error(p)
	}
	with.Files = apply(t, with.Files, replace("gitops/bootstrap/direct/operator-project.yaml", `.*PodDisruptionBudget\}\n`, ""))
	found(t, verified(t, with), "permission", []string{"PodDisruptionBudget", "namespaceResourceWhitelist"})
}
