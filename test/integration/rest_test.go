package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// ofANewMemcached are the operator's requests for a new Memcached of size 0.
var ofANewMemcached = []string{
	"patch services", "patch networkpolicies", "patch deployments", "patch memcacheds/status", "patch memcacheds/status",
}

// restarts restarts the operator, and returns its requests. They include the requests for a new Memcached: when the
// operator has reconciled the new Memcached, it has already reconciled all others.
func (w *world) restarts() []string {
	w.t.Helper()
	before := len(w.quiet())
	w.stop()
	w.start()
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero)
	return w.quiet()[before:]
}

// restartsAtRest checks that a restarted operator sends no request for the existing caches.
func (w *world) restartsAtRest() {
	w.t.Helper()
	if diff := cmp.Diff(ofANewMemcached, w.restarts()); diff != "" {
		w.t.Errorf("requests after a restart, beyond those of the new Memcached (-want +got):\n%s", diff)
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
			t.Errorf("%s, the operator requested %v", when, more)
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
	nothing("after a label of another client on the Deployment")

	w.restartsAtRest()
}
