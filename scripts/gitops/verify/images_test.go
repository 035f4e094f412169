package verify

const (
	otherDigest  = "registry.acme.test/catalog@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	subscription = "gitops/operator/base/subscription/subscription.yaml"
)

var imageMistakes = map[string]broken{
	"a CatalogSource with a catalog of its own": {
		[]string{"olm"}, []edit{
			unselect(`\[spec\.image\]`),
			replace("gitops/operator/base/subscription/catalogsource.yaml", "image: from-settings", "image: "+otherDigest),
		},
		"image", []string{"CatalogSource", otherDigest, "sha256:777", "gitops/settings"},
	},
	"a ClusterCatalog with a catalog of its own": {
		[]string{"olm-v1"}, []edit{
			unselect(`\[spec\.source\.image\.ref\]`),
			replace("gitops/operator/olm-v1/clustercatalog.yaml", "ref: from-settings", "ref: "+otherDigest),
		},
		"image", []string{"ClusterCatalog", otherDigest, "sha256:777"},
	},
	"an operator of another version": {
		[]string{"direct"}, []edit{unselect(`\["spec\.template\.spec\.containers\.\[name=manager\]\.image"\]`)},
		"image", []string{"Deployment memcached-operator-system/memcached-operator-controller-manager", "operator's image", "memcached-operator:7.0.0"},
	},
	"another memcached image for the operator": {
		[]string{"direct"}, []edit{unselect(`\["spec\.template\.spec\.containers\.\[name=manager\]\.env\.\[name=RELATED_IMAGE_MEMCACHED\]\.value"\]`)},
		"image", []string{"memcached image", "registry.acme.test/memcached:7"},
	},
	"a Subscription without the memcached image": {
		[]string{"openshift"}, []edit{
			unselect(`\["spec\.config\.env\.\[name=RELATED_IMAGE_MEMCACHED\]\.value"\]`),
			replace(subscription, `RELATED_IMAGE_MEMCACHED`, "RELATED_IMAGE"),
		},
		"image", []string{"Subscription", "memcached image", `""`},
	},
	"another agent for the operator": {
		[]string{"direct"}, []edit{unselect(`\["spec\.template\.spec\.containers\.\[name=manager\]\.env\.\[name=RELATED_IMAGE_AGENT\]\.value"\]`)},
		"image", []string{"agent's image", "registry.acme.test/memcached-agent:7"},
	},
	"an operator that is told of no agent": {
		[]string{"direct"}, []edit{
			unselect(`\["spec\.template\.spec\.containers\.\[name=manager\]\.env\.\[name=RELATED_IMAGE_AGENT\]\.value"\]`),
			replace("operator/config/manager/manager.yaml", `RELATED_IMAGE_AGENT`, "RELATED_IMAGE"),
		},
		"image", []string{"Deployment", "agent's image", `""`},
	},
	"a Subscription without the agent's image": {
		[]string{"olm"}, []edit{
			unselect(`\["spec\.config\.env\.\[name=RELATED_IMAGE_AGENT\]\.value"\]`),
			replace(subscription, `RELATED_IMAGE_AGENT`, "RELATED_IMAGE"),
		},
		"image", []string{"Subscription", "agent's image", `""`},
	},
	"whatever is newest": {
		[]string{"direct"}, []edit{replace("operator/config/samples/cache_v1_memcached.yaml", "size: 3", "size: 3\n  image: docker.io/library/memcached:latest")},
		"newest", []string{"Memcached", "memcached:latest", "whatever is newest"},
	},
	"a Subscription for other nodes": {
		[]string{"olm"}, []edit{
			replace("gitops/operator/subscription/amd64/kustomization.yaml", "arch=amd64", "arch=s390x"),
		},
		"architecture", []string{"Subscription", "the node selector", `"s390x"`, `"amd64"`},
	},
	"the overlay of another architecture": {
		[]string{"direct"}, []edit{replace("gitops/operator/direct/amd64/kustomization.yaml", "overlays/amd64", "overlays/arm64")},
		"architecture", []string{"Deployment", `"arm64"`, `"amd64"`},
	},
	"no operator at all": {
		[]string{"direct"}, []edit{replace("gitops/apps/base/kustomization.yaml", `  - operator\.yaml\n`, "")},
		"image", []string{"no Application of this way installs the operator"},
	},
}

var objectMistakes = map[string]broken{
	"a CRD that goes with its Application": {
		[]string{"direct"}, []edit{replace("gitops/keep-crds/kustomization.yaml", "Prune=false,Delete=false", "Prune=false")},
		"keep", []string{"CustomResourceDefinition memcacheds.cache.example.com", "every object of its kind", "Prune=false,Delete=false"},
	},
	"a CRD of a release that goes with its Application": {
		[]string{"olm"}, []edit{replace("gitops/platform/olm/kustomization.yaml", `(?s)components:\n  - \.\./\.\./keep-crds\n`, "")},
		"keep", []string{"crds.yaml", "CustomResourceDefinition subscriptions.operators.coreos.com"},
	},
	"a namespace that takes the caches along": {
		[]string{"direct"}, []edit{replace("gitops/samples/namespace.yaml", "Prune=false,Delete=false", "Delete=false")},
		"keep", []string{"Namespace memcached-samples", "the caches in it"},
	},
	"a ClusterExtension that takes the CRD along": {
		[]string{"olm-v1"}, []edit{replace("gitops/operator/olm-v1/clusterextension.yaml", `Prune=false,Delete=false`, "Delete=false")},
		"keep", []string{"ClusterExtension memcached-operator", "all caches"},
	},
	"a field that caches do not have": {
		[]string{"direct"}, []edit{replace("operator/config/samples/cache_v1_memcached.yaml", "size: 3", "size: 3\n  replicas: 3")},
		"schema", []string{"operator/config/samples/cache_v1_memcached.yaml", "spec.replicas", "no such field"},
	},
	"a value that a cache can't have": {
		[]string{"direct"}, []edit{replace(samples, "value: 3", "value: minus one")},
		"schema", []string{"memcached-sample", "spec.size", "integer"},
	},
}
