package verify

var orderMistakes = map[string]broken{
	"caches before their CRD": {
		[]string{"direct"}, []edit{replace(samplesApp, `sync-wave: "3"`, `sync-wave: "1"`)},
		"order-of-kinds", []string{"memcached-sample", "is of wave 1", "Application memcached-operator", "of wave 2", "later wave"},
	},
	"caches with the operator that OLM installs": {
		[]string{"olm"}, []edit{replace(samplesApp, `sync-wave: "3"`, `sync-wave: "2"`)},
		"order-of-kinds", []string{"memcached-sample", "is of wave 2", "Application memcached-operator", "of wave 2"},
	},
	"caches with the operator that OLM v1 installs": {
		[]string{"olm-v1"}, []edit{replace(samplesApp, `sync-wave: "3"`, `sync-wave: "2"`)},
		"order-of-kinds", []string{"memcached-sample", "is of wave 2", "Application memcached-operator"},
	},
	"a Subscription before OLM": {
		[]string{"olm"}, []edit{replace("gitops/apps/base/operator.yaml", `sync-wave: "2"`, `sync-wave: "0"`)},
		"order-of-kinds", []string{"Subscription memcached-operator-system/memcached-operator", "of wave 0", "Application olm"},
	},
	"a cache in the Application of the Subscription": {
		[]string{"openshift"}, []edit{replace("gitops/operator/base/subscription/kustomization.yaml", `  - \.\./namespace`, "  - ../namespace\n  - ../../../../operator/config/samples")},
		"order-of-kinds", []string{"Memcached", "Subscription memcached-operator-system/memcached-operator", "some time later"},
	},
	"a cache before the CRD in the same Application": {
		[]string{"direct"}, []edit{
			replace("gitops/keep-crds/kustomization.yaml", `annotations:`, "annotations:\n          argocd.argoproj.io/sync-wave: \"1\""),
			replace("gitops/operator/direct/amd64/kustomization.yaml", `resources:`, "resources:\n  - ../../../../operator/config/samples"),
		},
		"order-of-kinds", []string{"Memcached", "is of wave 0", "CustomResourceDefinition memcacheds.cache.example.com", "wave 1"},
	},
	"no operator": {
		[]string{"olm-v1"}, []edit{replace("gitops/operator/olm-v1/clusterextension.yaml", `packageName: .*`, "packageName: other")},
		"order-of-kinds", []string{"Memcached memcached-samples/memcached-sample", "no Application of this way brings its kind"},
	},
	"a namespace that nobody makes": {
		[]string{"direct"}, []edit{replace(samples, `  - namespace\.yaml\n`, "")},
		"order-of-namespaces", []string{"Memcached memcached-samples/memcached-sample", "no Application makes the namespace memcached-samples"},
	},
	"a namespace after what is in it": {
		[]string{"direct"}, []edit{replace("gitops/samples/namespace.yaml", `  annotations:`, "  annotations:\n    argocd.argoproj.io/sync-wave: \"5\"")},
		"order-of-namespaces", []string{"memcached-sample", "is of wave 0", "its namespace of wave 5"},
	},
	"a namespace of a later Application": {
		[]string{"olm-v1"}, []edit{replace("gitops/apps/overlays/olm-v1/operator-controller.yaml", `sync-wave: "1"`, `sync-wave: "0"`)},
		"order-of-namespaces", []string{"Certificate cert-manager/", "Application cert-manager, which makes its namespace"},
	},
	"a ClusterExtension that installs into a namespace of nobody": {
		[]string{"olm-v1"}, []edit{replace("gitops/operator/olm-v1/clusterextension.yaml", `namespace: memcached-operator-system`, "namespace: elsewhere")},
		"order-of-namespaces", []string{"ClusterExtension memcached-operator", "the namespace elsewhere"},
	},
	"an object of two Applications": {
		[]string{"openshift"}, []edit{replace(samples, "namespace: memcached-samples", "namespace: memcached-operator-system")},
		"owner", []string{"Namespace memcached-operator-system", "Application memcached-operator"},
	},
}
