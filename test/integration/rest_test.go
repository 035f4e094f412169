package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestANewMemcachedCostsOneWriteAChildAndTwoOfTheStatus(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.ready("cache")
	want := []string{"patch services", "patch deployments", "patch memcacheds/status", "patch memcacheds/status"}
	if diff := cmp.Diff(want, w.quiet()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestNothingIsAskedOfTheAPIServerAtRest(t *testing.T) {
	w := newWorld(t)
	mc := w.memcached("cache", 2)
	w.ready("cache")
	before := len(w.quiet())
	nothing := func(when string) {
		t.Helper()
		if more := w.quiet()[before:]; len(more) > 0 {
			t.Errorf("%s, the operator asked for %v", when, more)
		}
	}
	touch := func(object client.Object, metadata string) {
		t.Helper()
		raw := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":`+metadata+`}`))
		w.Expect(cluster.Patch(w.ctx, object, raw)).To(gomega.Succeed())
	}

	touch(mc, `{"annotations":{"example.com/touched":"yes"}}`)
	nothing("after an annotation on the Memcached")

	touch(w.deployment("cache"), `{"labels":{"example.com/foreign":"yes"}}`)
	nothing("after a foreign label on the Deployment")

	w.stop()
	w.start()
	nothing("after a restart")

	touch(mc, `{"annotations":{"example.com/touched":"again"}}`)
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero) // The restarted operator does work.
	for _, request := range w.quiet()[before:] {
		if request == "get deployments" || request == "get services" {
			t.Errorf("the operator read past its cache: %s", request)
		}
	}
}
