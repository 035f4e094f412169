package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// ofANewMemcached are the requests for a Memcached of size 0.
var ofANewMemcached = []string{
	"patch services", "patch networkpolicies", "patch deployments", "patch memcacheds/status", "patch memcacheds/status",
}

// restarts starts the operator again, and returns its requests. Among them are those for a new Memcached, after which the
// restarted operator has come to the end of its queue.
func (w *world) restarts(flags ...string) []string {
	w.t.Helper()
	before := len(w.quiet())
	w.stop()
	w.startWith(nil, append([]string{"--watch-namespaces=" + w.namespace}, flags...)...)
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero)
	return w.quiet()[before:]
}

// restartsAtRest checks that the operator, started again, requests nothing for the caches that are there.
func (w *world) restartsAtRest(flags ...string) {
	w.t.Helper()
	if diff := cmp.Diff(ofANewMemcached, w.restarts(flags...)); diff != "" {
		w.t.Errorf("requests after a restart, beyond those of the new Memcached (-want +got):\n%s", diff)
	}
}

func TestANewMemcachedCostsOneWriteForEachObjectAndTwoOfTheStatus(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.ready("cache")
	if diff := cmp.Diff(ofANewMemcached, w.quiet()); diff != "" {
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

func TestTwoHundredMemcachedsCostNothingAtARestartAndAResync(t *testing.T) {
	const many = 200
	w := newWorld(t)
	for i := range many {
		w.memcached(fmt.Sprintf("cache%d", i), int32(i%3))
	}
	w.Eventually(func() int {
		list := &cachev1.MemcachedList{}
		w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace))).To(gomega.Succeed())
		settled := 0
		for _, mc := range list.Items {
			if len(mc.Status.Nodes) == int(*mc.Spec.Size) && mc.Status.Replicas == *mc.Spec.Size {
				settled++
			}
		}
		return settled
	}).Should(gomega.Equal(many))
	w.restartsAtRest("--sync-period=2s")
	before := len(w.quiet())
	time.Sleep(5 * time.Second) // Two resyncs: nothing reports them, as they cost nothing.
	w.Expect(w.quiet()).To(gomega.HaveLen(before), "a resync costs nothing")
}
