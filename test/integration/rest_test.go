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

func TestANewMemcachedCostsOneWriteForEachObjectAndTwoOfTheStatus(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.ready("cache")
	want := []string{"patch services", "patch networkpolicies", "patch deployments", "patch memcacheds/status", "patch memcacheds/status"}
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

	w.stop()
	w.start()
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero) // The restarted operator works, and has come to the end of its queue.
	want := []string{"patch services", "patch networkpolicies", "patch deployments", "patch memcacheds/status", "patch memcacheds/status"}
	if diff := cmp.Diff(want, w.quiet()[before:]); diff != "" {
		t.Errorf("requests after a restart, beyond those of the new Memcached (-want +got):\n%s", diff)
	}
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
	before := len(w.quiet())

	w.stop()
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--sync-period=2s")
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero) // The restarted operator works, and has come to the end of its queue.
	after := w.quiet()[before:]

	want := []string{"patch services", "patch networkpolicies", "patch deployments", "patch memcacheds/status", "patch memcacheds/status"}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("requests beyond those of the new Memcached (-want +got):\n%s", diff)
	}
	before = len(w.quiet())
	time.Sleep(5 * time.Second) // Two resyncs: nothing reports them, as they cost nothing.
	w.Expect(w.quiet()).To(gomega.HaveLen(before), "a resync costs nothing")
}
