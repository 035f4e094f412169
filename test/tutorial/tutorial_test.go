//go:build e2e

// Package tutorial runs the commands of the Operator SDK's tutorial in order, like a reader who has never seen this
// repository. The commands must work unchanged.
package tutorial

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// TestTheTutorial omits the commands that need operator-sdk, and the steps that write code. The path of the sample
// differs: here it is below operator/, next to the other kustomize bases.
func TestTheTutorial(t *testing.T) {
	v := newReader(t)
	img := v.cluster.Image("memcached-operator", "v0.0.1")
	bundle, catalog := v.cluster.Image("memcached-operator-bundle", "v0.0.1"), v.cluster.Image("memcached-operator-catalog", "v0.0.1")
	const sample = "operator/config/samples/cache_v1_memcached.yaml"

	v.make("docker-build", "IMG="+img)
	v.make("docker-push", "IMG="+img)
	v.make("deploy", "IMG="+img)
	v.kubectl("-n", "memcached-operator-system", "wait", "--for=condition=Available", "--timeout=1m",
		"deployment/memcached-operator-controller-manager")

	v.kubectl("apply", "-f", sample)
	v.kubectl("wait", "--for=condition=Ready", "--timeout=3m", "memcached/memcached-sample")
	v.assertNodes(3)
	v.assertKeysAreKept()
	v.kubectl("patch", "memcached", "memcached-sample", "-p", `{"spec":{"size": 5}}`, "--type=merge")
	v.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=5", "--timeout=3m", "memcached/memcached-sample")
	v.assertNodes(5)

	v.make("bundle", "IMG="+img)
	v.make("bundle-build", "BUNDLE_IMG="+bundle)
	v.make("bundle-push", "BUNDLE_IMG="+bundle)
	v.make("catalog-build", "CATALOG_IMG="+catalog, "BUNDLE_IMG="+bundle)
	v.make("catalog-push", "CATALOG_IMG="+catalog, "BUNDLE_IMG="+bundle)
	agent := strings.TrimSpace(v.read("operator/cmd/agent/VERSION"))
	v.assertHolds(bundle, img, v.cluster.Image("memcached-agent", agent))
	v.assertHolds(catalog, bundle)

	v.kubectl("delete", "-f", sample)
	v.kubectl("wait", "--for=delete", "--timeout=2m", "deployment/memcached-sample") // The garbage collector is slower.
	v.make("undeploy")
	if left := v.kubectl("get", "customresourcedefinitions,deployments", "--all-namespaces", "-o", "name"); strings.Contains(left, "memcached") {
		t.Errorf("undeploy leaves %s", left)
	}
}

// assertNodes checks that the Deployment has this size, and that the status lists its Pods.
func (v *reader) assertNodes(size int) {
	v.t.Helper()
	pods := strings.Fields(v.kubectl("get", "pods", "-l", "memcached_cr=memcached-sample", "-o", "jsonpath={.items[*].metadata.name}"))
	nodes := strings.Fields(v.kubectl("get", "memcached/memcached-sample", "-o", "jsonpath={.status.nodes[*]}"))
	slices.Sort(pods)
	slices.Sort(nodes)
	if diff := cmp.Diff(pods, nodes); diff != "" || len(pods) != size {
		v.t.Errorf("%d Pods, want %d; status.nodes (-Pods +status):\n%s", len(pods), size, diff)
	}
}

// assertHolds checks that the registry has an image for all platforms, and that its files contain the names of other
// images.
func (v *reader) assertHolds(ref string, images ...string) {
	v.t.Helper()
	description, err := oci.Describe(v.t.Context(), ref)
	if err != nil {
		v.t.Fatal(err)
	}
	var want []string
	for _, platform := range oci.Platforms() {
		want = append(want, platform.String())
	}
	if diff := cmp.Diff(want, description.Platforms); diff != "" {
		v.t.Errorf("%s, platforms (-want +got):\n%s", ref, diff)
	}
	for files := v.filesOf(ref); len(images) > 0; images = images[1:] {
		if !strings.Contains(files, images[0]+"\n") {
			v.t.Errorf("%s does not name %s", ref, images[0])
		}
	}
}
