package integration

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// slotWorld is a world in which the test acts instead of the kubelet and the agents.
type slotWorld struct {
	*world

	// copies says whether agents that copy keys finish their copies.
	copies atomic.Bool

	// hangs is the cache whose agents never copy all keys.
	hangs string

	// acts has an act for each cache, by the cache's name.
	acts sync.Map

	// metrics is the address at which the operator serves its metrics.
	metrics string

	// place puts a Pod on a Node, and reports whether the kubelet of this Node acts on it. It is nil in a world without
	// Nodes.
	place func(*corev1.Pod) bool
}

// act changes what the kubelet reports about a Pod.
type act func(*corev1.Pod, kubelet.Order)

func newSlotWorld(t *testing.T) *slotWorld {
	t.Helper()
	return startSlotWorld(t, &slotWorld{})
}

func startSlotWorld(t *testing.T, w *slotWorld) *slotWorld {
	t.Helper()
	t.Parallel()
	w.world, w.metrics = emptyWorld(t, operatorKubeconfig), unused.Address(t)
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--metrics-bind-address="+w.metrics, "--metrics-insecure")
	w.play()
	return w
}

// play acts instead of the kubelet and the agents until the test ends.
func (w *slotWorld) play() {
	w.copies.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for w.ctx.Err() == nil {
			w.actOnPods()
			time.Sleep(100 * time.Millisecond)
		}
	}()
	w.t.Cleanup(func() { <-ended })
}

// actOnPods does once what the kubelet and the agents would do.
func (w *slotWorld) actOnPods() {
	pods := &corev1.PodList{}
	if err := cluster.List(w.ctx, pods, client.InNamespace(w.namespace)); err != nil {
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Labels[batchv1.JobNameLabel] != "" || w.place != nil && !w.place(pod) {
			continue // Tests themselves end the Pods of Jobs.
		}
		before := pod.DeepCopy()
		w.run(pod)
		if fmt.Sprint(before.Status) != fmt.Sprint(pod.Status) {
			_ = cluster.Status().Update(w.ctx, pod) // If the Pod has changed, the next round repeats this.
		}
	}
}

func (w *slotWorld) run(pod *corev1.Pod) {
	order := kubelet.OrderOf(pod)
	copied := w.copies.Load() && pod.Labels["memcached_cr"] != w.hangs
	agentReady := order.Role != "" && (!order.Copies() || copied) && !order.IsUnready(time.Now())
	pod.Status.Phase = corev1.PodRunning
	if pod.Status.PodIP == "" {
		sum := fnv.New32()
		_, _ = sum.Write([]byte(pod.UID))
		pod.Status.PodIP = fmt.Sprintf("10.0.%d.%d", sum.Sum32()%250+1, sum.Sum32()/250%250+1)
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	has := kubelet.ResourcesOf(pod)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "memcached", Ready: true, State: running, Resources: has}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "agent", Ready: agentReady || !kubelet.HasSlots(pod), State: running},
	}
	if kubelet.IsBootstrap(pod) {
		pod.Status.InitContainerStatuses = nil
		kubelet.ReportBootstrap(pod, copied)
	}
	if change, ok := w.acts.Load(pod.Labels["memcached_cr"]); ok {
		change.(act)(pod, order)
	}
	if pod.Status.Phase == corev1.PodRunning {
		kubelet.Resize(pod)
		kubelet.SetConditions(pod, "ContainersNotReady")
	}
}

// memcachedWithSlots creates a Memcached with slots, and waits until a Pod serves each slot.
func (w *slotWorld) memcachedWithSlots(
	name string, size int32, mode cachev1.SlotsMode, changes ...func(*cachev1.MemcachedSpec),
) *cachev1.Memcached {
	w.t.Helper()
	spec := cachev1.MemcachedSpec{Size: &size, Slots: &cachev1.Slots{Mode: mode}}
	for _, change := range changes {
		change(&spec)
	}
	w.create(name, spec)
	return w.served(name)
}

// served waits until each slot has a Pod, and all Pods are up to date and ready.
func (w *slotWorld) served(name string) *cachev1.Memcached {
	w.t.Helper()
	return eventually(w.world, name, w.reason(name, cachev1.ReasonAllPodsReady), func(mc *cachev1.Memcached) bool {
		return len(mc.Status.Slots) == int(*mc.Spec.Size) && len(mc.Status.Nodes) == int(*mc.Spec.Size) &&
			!slices.ContainsFunc(mc.Status.Slots, func(slot cachev1.SlotStatus) bool {
				return slot.State != cachev1.SlotServing || !slices.Contains(mc.Status.Nodes, slot.Pod)
			})
	})
}

// handoffs returns how many handoffs the operator has counted, by the labels of the metric.
func (w *slotWorld) handoffs() map[string]float64 {
	w.t.Helper()
	counts := map[string]float64{}
	for series, count := range readMetrics(w.world, w.metrics) {
		if labels, found := strings.CutPrefix(series, "memcached_operator_handoffs_total"); found && count > 0 {
			counts[labels] = count
		}
	}
	return counts
}

// holders returns the name of the Pod of each slot, from the EndpointSlices by which clients find it.
func (w *slotWorld) holders(name string) map[string]string {
	w.t.Helper()
	slice := get(w.world, name+"-slots-ipv4", &discoveryv1.EndpointSlice{})
	holders := map[string]string{}
	for _, endpoint := range slice.Endpoints {
		holders[*endpoint.Hostname] = endpoint.TargetRef.Name
	}
	return holders
}
