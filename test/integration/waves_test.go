package integration

import (
	"slices"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

const (
	formerImage = "registry.example.com/memcached:former"
	nextImage   = "registry.example.com/memcached:next"
)

// automatic creates caches of two Pods with updatePolicy Automatic, and waits until an operator with the former image
// has made them ready.
func (w *world) automatic(names ...string) {
	w.t.Helper()
	w.startWith([]string{"RELATED_IMAGE_MEMCACHED=" + formerImage}, "--watch-namespaces="+w.namespace)
	for _, name := range names {
		w.create(name, cachev1.MemcachedSpec{Size: new(int32(2)), UpdatePolicy: cachev1.UpdateAutomatic})
	}
	for _, name := range names {
		w.ready(name)
	}
}

// upgrade starts an operator with the next image, instead of the operator before it.
func (w *world) upgrade(flags ...string) {
	w.t.Helper()
	w.stop()
	flags = append([]string{"--watch-namespaces=" + w.namespace}, flags...)
	w.startWith([]string{"RELATED_IMAGE_MEMCACHED=" + nextImage}, flags...)
}

// updated returns the caches that have the next image, and those of them whose Pods are not all replaced yet.
func (w *world) updated() (all, inProgress []string) {
	w.t.Helper()
	list := &appsv1.DeploymentList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace))).To(gomega.Succeed())
	for _, deployment := range list.Items {
		if deployment.Spec.Template.Spec.Containers[0].Image != nextImage {
			continue
		}
		all = append(all, deployment.Name)
		if s := deployment.Status; s.ObservedGeneration < deployment.Generation || s.AvailableReplicas != 2 || s.Replicas != 2 || s.UpdatedReplicas != 2 {
			inProgress = append(inProgress, deployment.Name)
		}
	}
	return all, inProgress
}

// makeAllReady does what the kubelet would do to the Pods of caches.
func (w *world) makeAllReady(names ...string) {
	w.t.Helper()
	for _, name := range names {
		pods := w.pods(name)
		for i := range pods {
			makeReady(w, &pods[i])
		}
	}
}

func TestAnUpgradeOfTheOperatorUpdatesAFewCachesAtATimeInOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		most  int
		flags []string
	}{
		"one by default": {1, nil},
		"two on request": {2, []string{"--max-concurrent-updates=2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t, operatorKubeconfig)
			want := []string{"a", "b", "c", "d", "e", "f"}
			w.automatic("d", "a", "f", "b", "e", "c")
			spent := len(w.quiet())
			w.upgrade(tc.flags...)

			var order []string
			w.Eventually(func() []string {
				all, inProgress := w.updated()
				w.Expect(len(inProgress)).To(gomega.BeNumerically("<=", tc.most), "caches in progress: %v", inProgress)
				for _, cache := range all { // all is sorted, so caches that begin together are in order.
					if !slices.Contains(order, cache) {
						order = append(order, cache)
					}
				}
				w.makeAllReady(inProgress...)
				return all
			}).WithTimeout(patience).Should(gomega.Equal(want))
			for i, cache := range order { // Updates that begin together may be seen in any order.
				if off := i - slices.Index(want, cache); off >= tc.most || -off >= tc.most {
					t.Errorf("order %v, want %v, %d at a time", order, want, tc.most)
				}
			}
			for _, cache := range want {
				w.ready(cache)
				w.waits(cache, "")
			}
			if writes := count(w.quiet()[spent:], "patch deployments"); writes != len(want) {
				t.Errorf("%d writes of Deployments for %d caches", writes, len(want))
			}
		})
	}
}

func TestUpdateQueuedUntilTheCacheThatFailedIsReady(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	w.automatic("a", "b", "cache")
	for _, name := range []string{"a", "b", "cache"} {
		w.patch(&cachev1.Memcached{}, name, `{"spec":{"rollout":{"progressDeadlineSeconds":2}}}`)
		w.ready(name)
	}
	// The update of cache a does not start, although others do, because a was not Ready before.
	w.patch(&cachev1.Memcached{}, "a", `{"spec":{"size":3}}`)
	w.reason("a", cachev1.ReasonProgressDeadlineExceeded)
	address := unused.Address(t)
	metrics := []string{"--metrics-bind-address=" + address, "--metrics-insecure"}
	w.upgrade(metrics...)
	w.Eventually(func() []string { all, _ := w.updated(); return all }).Should(gomega.Equal([]string{"b"}))
	w.Eventually(w.events).Should(gomega.ContainElement("Warning UpdatesStopped"))
	stopped := func() {
		t.Helper()
		w.reason("b", cachev1.ReasonProgressDeadlineExceeded)
		w.Eventually(func() map[string]float64 { return readMetrics(w, address) }).Should(gomega.And(
			gomega.HaveKeyWithValue("memcached_operator_updates_pending{}", 2.0),
			gomega.HaveKeyWithValue("memcached_operator_updates_in_progress{}", 1.0),
			gomega.HaveKeyWithValue("memcached_operator_updates_failed{}", 1.0),
		))
		w.quiet()
		all, _ := w.updated()
		w.Expect(all).To(gomega.Equal([]string{"b"}))
	}
	stopped()
	waiting := meta.FindStatusCondition(get(w, "cache", &cachev1.Memcached{}).Status.Conditions, cachev1.ConditionUpdatePending)
	w.Expect(waiting.Reason).To(gomega.Equal(cachev1.ReasonUpdateQueued))
	w.Expect(waiting.Message).To(gomega.ContainSubstring("The update is queued"))
	w.upgrade(metrics...)
	stopped() // A restarted operator also knows that the updates have stopped.

	w.makeAllReady("b")
	w.ready("b")
	w.Eventually(func() []string { all, _ := w.updated(); return all }).Should(gomega.Equal([]string{"b", "cache"}))
	w.Expect(cluster.Delete(w.ctx, get(w, "cache", &cachev1.Memcached{}))).To(gomega.Succeed())
	w.Eventually(func() []string { all, _ := w.updated(); return all }).Should(gomega.ContainElement("a"), "at last the one that was not Ready")
	w.ready("a")
}
