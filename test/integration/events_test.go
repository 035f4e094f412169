package integration

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestEventsReportChangesOnceEach(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	w.patchSpec(`{"size":3}`)
	w.ready("cache")
	w.patchSpec(`{"maxItemSize":"1Gi"}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)

	want := []string{
		"Normal AllPodsReady", "Normal AllPodsReady",
		"Normal Created",
		"Normal Scaled Deployment",
		"Warning InvalidSpec",
	}
	var got []string
	w.Eventually(func() []string {
		got = w.events()
		return got
	}).Should(gomega.HaveLen(len(want)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// events returns the type, the reason and the related kind of each event about the Memcached "cache", sorted.
func (w *world) events() []string {
	w.t.Helper()
	list := &eventsv1.EventList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace))).To(gomega.Succeed())
	var events []string
	for _, event := range list.Items {
		if event.Regarding.Kind != "Memcached" {
			continue
		}
		text := event.Type + " " + event.Reason
		if event.Related != nil {
			text += " " + event.Related.Kind
		}
		events = append(events, text)
	}
	slices.Sort(events)
	return events
}
