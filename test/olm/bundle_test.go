package olm

import (
	"cmp"
	"context"
	"crypto/sha512"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/check"
)

// brokenBundle is a copy of the bundle in which a text of a file is another.
type brokenBundle struct {
	rule     string
	file     string
	old, new string
	want     string // in the problem's message
}

const (
	readable      = "the bundle can be read"
	says          = "the annotations say what the bundle is"
	isOne         = "the ClusterServiceVersion is one"
	nameRule      = "the name is package and version"
	replacesRule  = "the version replaces an older one"
	textRule      = "texts are neither missing nor too long"
	askRule       = "there is somebody to ask"
	iconRule      = "there is one icon"
	knownRule     = "capabilities and categories are known ones"
	formRule      = "annotations are well-formed"
	ownedRule     = "owned APIs are the CustomResourceDefinitions of the bundle"
	exampleRule   = "each owned API has an example, and each example an API"
	fieldRule     = "each field has a descriptor, and each descriptor a field"
	modeRule      = "each install mode is there once, and supported"
	installRule   = "there is something to install"
	scopeRule     = "permissions hold where they are needed, and no further"
	relatedRule   = "related images are those in use, each once"
	labelRule     = "the image's labels are the annotations"
	openShiftRule = "OpenShift's catalogs are those with the Kubernetes that is needed"
	kindRule      = "manifests are of kinds that every cluster has"

	crdFile     = "manifests/cache.example.com_memcacheds.yaml"
	serviceFile = "manifests/memcached-operator-controller-manager-metrics-service_v1_service.yaml"

	serviceHead = "kind: Service\nmetadata:\n  name: memcached-operator-controller-manager-metrics-service"
	accountHead = "kind: ServiceAccount\nmetadata:\n  name: memcached-operator-controller-manager"
)

var brokenBundles = map[string]brokenBundle{
	"no annotations":                 {readable, annotationsFile, "", "", "metadata/annotations.yaml is missing"},
	"no ClusterServiceVersion":       {readable, csvFile, "", "", "holds no ClusterServiceVersion"},
	"a second ClusterServiceVersion": {readable, serviceFile, "kind: Service", "kind: ClusterServiceVersion", "is a second"},
	"a manifest that is no YAML":     {readable, serviceFile, "spec:", "spec: [", "service.yaml: "},
	"a manifest without a kind":      {readable, serviceFile, "kind: Service", "x: y", "has no kind"},

	"a media type that is not there yet":    {says, annotationsFile, "registry+v1", "registry+v2", `mediatype.v1 is "registry+v2", want "registry+v1"`},
	"manifests elsewhere":                   {says, annotationsFile, "manifests/", "objects/", `manifests.v1 is "objects/"`},
	"metadata elsewhere":                    {says, annotationsFile, "v1: metadata/", "v1: data/", `metadata.v1 is "data/"`},
	"another package":                       {says, annotationsFile, "v1: memcached-operator", "v1: memcached", `package.v1 is "memcached"`},
	"no channel":                            {says, annotationsFile, "v1: stable,candidate", `v1: ""`, "channels.v1 is empty"},
	"a default channel without a name":      {says, annotationsFile, "v1: stable\n", "v1: \"\"\n", "channel.default.v1 is empty"},
	"a label that differs":                  {labelRule, "bundle.Dockerfile", "v1=stable,candidate", "v1=stable", "channels.v1=stable]"},
	"a label that is missing":               {labelRule, "bundle.Dockerfile", "LABEL operators.operatorframework.io.bundle.package.v1=memcached-operator\n", "", "package.v1=memcached-operator]"},
	"a channel that promises nothing":       {"channels have names that tell how far to trust them", annotationsFile, "stable,candidate", "stable,alpha", `"alpha" does not begin with`},
	"no version of OpenShift":               {openShiftRule, annotationsFile, "com.redhat.openshift.versions: v4.17", "", `is "", want a form of v4.17`},
	"OpenShift's versions as a list":        {openShiftRule, annotationsFile, "versions: v4.17", `versions: "v4.17,v4.18"`, `is "v4.17,v4.18", want a form`},
	"an OpenShift with an older Kubernetes": {openShiftRule, annotationsFile, "versions: v4.17", "versions: v4.16-v4.18", "OpenShift 4.16 has Kubernetes 1.29, spec.minKubeVersion is 1.30.0"},
	"a range that ends before it begins":    {openShiftRule, annotationsFile, "versions: v4.17", "versions: v4.18-v4.17", "the range ends before it begins"},
	"a scorecard that is not there":         {"the scorecard's configuration is where the annotations say", "tests/scorecard/config.yaml", "", "", "tests/scorecard/config.yaml is missing"},
	"a Deployment beside the CSV":           {kindRule, serviceFile, "kind: Service", "kind: Deployment", "a Deployment has no place"},
	"an API that is optional":               {kindRule, serviceFile, "kind: Service", "kind: ServiceMonitor", "a ServiceMonitor has no place"},
	"a NetworkPolicy":                       {kindRule, serviceFile, "kind: Service", "kind: NetworkPolicy", "a NetworkPolicy has no place"},
	"a namespace":                           {"manifests name no namespace", serviceFile, "metadata:", "metadata:\n  namespace: here", `metadata.namespace is "here"`},
	"the account that OLM makes":            {"service accounts are left to OLM", serviceFile, serviceHead, accountHead, "OLM makes the ServiceAccount memcached-operator-controller-manager"},
	"another operator is needed":            {"the bundle needs no other operator", "metadata/dependencies.yaml", "", "dependencies: [{type: olm.package}]", "OLM v1 refuses olm.package"},
	"a bundle that no ConfigMap could hold": {"the bundle is small enough", serviceFile, "spec:", "# " + noise(1<<20) + "\nspec:", "no more than 1 MiB"},

	"another version of OLM's API":      {isOne, csvFile, "operators.coreos.com/v1alpha1", "operators.coreos.com/v1", `apiVersion is "operators.coreos.com/v1"`},
	"a name of another version":         {nameRule, csvFile, "name: memcached-operator.v0.1.0", "name: memcached-operator.v0.1.1", `want "memcached-operator.v0.1.0"`},
	"a version that is none":            {nameRule, csvFile, "version: 0.1.0", "version: 0.1", `spec.version "0.1"`},
	"a version that replaces itself":    {replacesRule, csvFile, "  version: 0.1.0", "  version: 0.1.0\n  replaces: memcached-operator.v0.1.0", "is not another version"},
	"a version that skips itself":       {replacesRule, csvFile, "    repository:", "    olm.skipRange: '>=0.0.1 <=0.1.0'\n    repository:", "holds the version itself"},
	"a range of versions that is none":  {replacesRule, csvFile, "    repository:", "    olm.skipRange: 'older'\n    repository:", `olm.skipRange "older"`},
	"no name to show":                   {textRule, csvFile, "displayName: Memcached Operator", "displayName: M", "spec.displayName has 1 characters"},
	"no description":                    {textRule, csvFile, "  description: |\n", "  description: short\n  more: |\n", "spec.description has 5 characters"},
	"a summary longer than its place":   {textRule, csvFile, "and says why when they do not come up", strings.Repeat("x", 100), "annotation description has 1"},
	"no maturity":                       {textRule, csvFile, "maturity: alpha", `maturity: ""`, "spec.maturity has 0"},
	"nobody who provides it":            {askRule, csvFile, "name: example-inc", "name: x", "spec.provider.name"},
	"a maintainer without an address":   {askRule, csvFile, "email: maintainers@example.com", "email: maintainers", "spec.maintainers"},
	"a link that leads nowhere":         {askRule, csvFile, "url: https://memcached.org", "url: memcached.org", "spec.links"},
	"a repository that is no URL":       {askRule, csvFile, "repository: https://", "repository: git:", "annotation repository"},
	"a picture of an unknown kind":      {iconRule, csvFile, "mediatype: image/svg+xml", "mediatype: image/webp", `"image/webp" is none of`},
	"a picture that is none":            {iconRule, csvFile, `base64data: "`, `base64data: "%`, "holds no picture"},
	"no picture":                        {iconRule, csvFile, "  icon:\n", "  icons:\n", "spec.icon has 0 entries"},
	"an oldest Kubernetes without it":   {"the oldest Kubernetes is a version", csvFile, "minKubeVersion: 1.30.0", "minKubeVersion: '1.30'", `spec.minKubeVersion "1.30"`},
	"a capability nobody knows":         {knownRule, csvFile, "capabilities: Seamless Upgrades", "capabilities: Everything", `capabilities "Everything" is none of`},
	"a category nobody knows":           {knownRule, csvFile, "categories: Database", "categories: Database, Caches", `"Caches" is none of`},
	"a time that is none":               {formRule, csvFile, `createdAt: "2026-`, `createdAt: "26-`, "is no time"},
	"a namespace that can't be one":     {formRule, csvFile, "suggested-namespace: memcached-operator-system", "suggested-namespace: Here", "is no name"},
	"an annotation in the wrong case":   {formRule, csvFile, "    repository:", "    olm.skiprange: '>=0.0.1'\n    repository:", "olm.skiprange is written olm.skipRange"},
	"properties in an annotation":       {formRule, csvFile, "    repository:", "    olm.properties: '[]'\n    repository:", "belongs into metadata/properties.yaml"},
	"a feature that is neither":         {"features are told as OpenShift asks for them", csvFile, `proxy-aware: "false"`, `proxy-aware: "no"`, `proxy-aware is "no"`},
	"a feature that is not told":        {"features are told as OpenShift asks for them", csvFile, `tls-profiles: "false"`, `tls: "false"`, "tls-profiles is missing"},
	"an API without a definition":       {ownedRule, csvFile, "version: v1\n      displayName: Memcached", "version: v2\n      displayName: Memcached", "memcacheds.cache.example.com/v2/Memcached is owned, and not defined"},
	"a definition that is not owned":    {ownedRule, crdFile, "    kind: Memcached\n", "    kind: Cache\n", "/Cache is defined, and not owned"},
	"an API that nobody explains":       {"owned APIs are explained", csvFile, "description: A cache of one or more memcached nodes.", `description: ""`, "description is empty"},
	"no example":                        {exampleRule, csvFile, `"kind": "Memcached"`, `"kind": "Cache"`, "cache.example.com/v1/Memcached has no example"},
	"examples that are no JSON":         {exampleRule, csvFile, `"size": 3`, `"size": three`, "alm-examples: invalid"},
	"a field without a descriptor":      {fieldRule, csvFile, "path: rollout.maxSurge", "path: rollout.maxSurges", "spec.rollout.maxSurge has no descriptor"},
	"a descriptor without a field":      {fieldRule, csvFile, "path: endpoint", "path: endpoints", "status.endpoints is described, and is no field"},
	"a descriptor that is there twice":  {fieldRule, csvFile, "- path: size\n", "- {path: size, displayName: S, description: S}\n      - path: size\n", "spec.size is described twice"},
	"a descriptor that tells nothing":   {fieldRule, csvFile, "displayName: Size", `displayName: ""`, "spec.size: no name"},
	"a new field of the API":            {fieldRule, crdFile, "              suspend:\n", "              newField: {type: string}\n              suspend:\n", "spec.newField has no descriptor"},
	"an install mode that is refused":   {modeRule, csvFile, "type: MultiNamespace\n    supported: true", "type: MultiNamespace\n    supported: false", "MultiNamespace is not supported"},
	"an install mode twice":             {modeRule, csvFile, "type: OwnNamespace", "type: AllNamespaces", "AllNamespaces is there 2 times"},
	"an install mode that is none":      {modeRule, csvFile, "type: OwnNamespace", "type: NoNamespace", `"NoNamespace" is no install mode`},
	"a webhook that converts":           {"a conversion webhook serves all namespaces alone", csvFile, "  install:\n", "  webhookdefinitions: [{type: ConversionWebhook}]\n  install:\n", "there is a conversion webhook, and OwnNamespace is supported"},
	"another strategy":                  {installRule, csvFile, "strategy: deployment", "strategy: job", `strategy is "job"`},
	"a manager of another name":         {installRule, csvFile, "- name: manager\n                image", "- name: operator\n                image", "has no container manager"},
	"a manager that asks for nothing":   {"the manager asks for resources", csvFile, "cpu: 10m", "cpu: 0", "requests no CPU"},
	"namespaces that OLM does not tell": {"the namespaces to serve come from OLM", csvFile, "olm.targetNamespaces", "olm.namespaces", "has no WATCH_NAMESPACE"},
	"permissions of nobody":             {"permissions are of the operator's account", csvFile, "serviceAccountName: memcached-operator-controller-manager\n              term", "serviceAccountName: default\n              term", `runs as "default"`},
	"a permission for too much":         {scopeRule, csvFile, "resources: [tokenreviews]", "resources: [tokenreviews]\n          verbs: [create]\n        - apiGroups: [apps]\n          resources: [deployments]", "clusterPermissions: [deployments] belongs into the other list"},
	"a permission for too little":       {scopeRule, csvFile, "resources: [leases]\n          verbs: [create]", "resources: [leases]\n          verbs: [create]\n        - apiGroups: [authentication.k8s.io]\n          resources: [tokenreviews]\n          verbs: [create]", "permissions: [tokenreviews] belongs into the other list"},
	"a permission nobody knows":         {scopeRule, csvFile, "resources: [tokenreviews]", "resources: [others]", "is not known"},
	"an operator that makes APIs":       {"the operator makes no CustomResourceDefinitions", csvFile, "- apiGroups: [authentication.k8s.io]", "- apiGroups: [apiextensions.k8s.io]\n          resources: [customresourcedefinitions]\n          verbs: [create]\n        - apiGroups: [authentication.k8s.io]", "[create] on customresourcedefinitions"},
	"an architecture that is not told":  {"the labels tell the platforms that the manager may run on", csvFile, "    operatorframework.io/arch.s390x: supported\n", "", "the node affinity of deployment memcached-operator-controller-manager of [amd64 arm64 ppc64le s390x]"},
	"an image without a tag":            {"images are well-formed", csvFile, "docker.io/library/memcached:1.6.45", "docker.io/library/memcached", "has neither tag nor digest"},
	"an image without a registry":       {"images are well-formed", csvFile, "docker.io/library/memcached:1.6.45", "library/memcached:1.6.45", "names no registry"},
	"a manager that knows no agent":     {"the manager is told the images of caches", csvFile, "RELATED_IMAGE_AGENT\n", "RELATED_AGENT\n", "container manager has no RELATED_IMAGE_AGENT"},
	"an agent that no mirror knows":     {relatedRule, csvFile, "  - name: agent\n    image: ", "  - name: agent\n    image: registry.example.com/other-", "spec.relatedImages lacks registry.example.com/memcached-agent:0.1.0"},
	"an image that no mirror knows":     {relatedRule, csvFile, "  - name: memcached\n    image: docker.io/library/memcached:1.6.45", "", "spec.relatedImages lacks docker.io/library/memcached:1.6.45"},
	"a related image without a name":    {relatedRule, csvFile, "  - name: memcached\n    image: docker", "  - name: \"\"\n    image: docker", "spec.relatedImages[1] has no name"},
	"another image in the listing":      {"the image in the catalog's listing is the manager's", csvFile, "containerImage: registry.example.com/memcached-operator:", "containerImage: registry.example.com/memcached:", "the manager runs"},
	"a mirror that would not do":        {"disconnected is told if all images are by digest", csvFile, `disconnected: "false"`, `disconnected: "true"`, "all images by digest: false"},
}

func TestABundleThatBreaksARuleIsNoticed(t *testing.T) {
	good := firstRelease(t)
	for name, tc := range brokenBundles {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(good)
			switch before := files[tc.file]; {
			case tc.old == "" && tc.new == "":
				delete(files, tc.file)
			case tc.old == "":
				files[tc.file] = tc.new
			case !strings.Contains(before, tc.old):
				t.Fatalf("%s does not hold %q", tc.file, tc.old)
			default:
				files[tc.file] = strings.ReplaceAll(before, tc.old, tc.new)
			}
			assertBroken(t, check.Bundle(files), tc.rule, tc.want)
		})
	}
}

func TestAFolderAmongTheManifestsIsNoticed(t *testing.T) {
	files := firstRelease(t)
	files["manifests/more/service.yaml"] = files[serviceFile]
	assertBroken(t, check.Bundle(files), readable, "is in a folder of its own")
}

// firstRelease is the bundle of today's sources as it was for 0.1.0: what is committed changes with each release.
func firstRelease(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Build(t.Context(), root, bundle.Options{
		Version: "0.1.0", Image: "registry.example.com/memcached-operator:0.1.0", Channels: []string{"stable", "candidate"},
		CreatedAt: "2026-01-31T12:00:00Z", Digest: asAtFirst(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// asAtFirst puts images in the place of those that the last release wrote into the manifests, to whichever registry.
func asAtFirst(t *testing.T) func(context.Context, string) (string, error) {
	t.Helper()
	manager, err := os.ReadFile(root + "/operator/config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for variable, image := range map[string]string{
		"RELATED_IMAGE_MEMCACHED": "docker.io/library/memcached:1.6.45",
		"RELATED_IMAGE_AGENT":     "registry.example.com/memcached-agent:0.1.0",
	} {
		now := regexp.MustCompile(variable + `\n +value: (\S+)`).FindSubmatch(manager)
		if now == nil {
			t.Fatalf("manager.yaml has no %s", variable)
		}
		first[string(now[1])] = image
	}
	return func(_ context.Context, image string) (string, error) { return cmp.Or(first[image], image), nil }
}

// noise is text that can't be compressed well.
func noise(size int) string {
	var text strings.Builder
	for sum := sha512.Sum512(nil); text.Len() < 2*size; sum = sha512.Sum512(sum[:]) {
		fmt.Fprintf(&text, "%x", sum)
	}
	return text.String()
}
