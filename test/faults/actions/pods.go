package actions

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// onPods is the argument of actions on the first Pods of a cache, ordered by name.
type onPods struct {
	Pods int `json:"pods"`
}

// onPodsFor is the argument of actions that affect the first Pods of a cache for a while.
type onPodsFor struct {
	lasting
	onPods
}

// impostor is a Pod that does not belong to a cache, but has the labels of the cache's Pods.
type impostor struct {
	lasting

	// Adoptable is whether the impostor has all labels of another Pod, so that the ReplicaSet of that Pod adopts it.
	Adoptable bool `json:"adoptable"`
}

func pods() []Action {
	some := func(r *rand.Rand) any { return drawPods(r) }
	someFor := func(r *rand.Rand) any { return onPodsFor{drawLasting(r), drawPods(r)} }
	return append([]Action{
		{plan.Action{Name: "Pods are killed", Weight: 2, Draw: some}, deletePods(client.GracePeriodSeconds(0))},
		{plan.Action{Name: "Pods are deleted", Weight: 1, Draw: some}, deletePods()},
		{plan.Action{Name: "Pods are evicted", Weight: 1, Draw: some}, evictPods},
		{plan.Action{Name: "Pods lose their labels", Weight: 1, Draw: some}, relabelPods},
	}, simulated([]Action{
		{plan.Action{Name: "Pods are not ready", Weight: 2, Draw: someFor}, unready(probeFails)},
		{plan.Action{Name: "Pods are OOM-killed again and again", Weight: 2, Draw: someFor}, unready(crashes)},
		{plan.Action{Name: "Pods fail", Weight: 1, Draw: some}, failPods},
		{plan.Action{Name: "Pods stay pending", Weight: 1, Draw: someFor}, given(stayPending)},
		{plan.Action{Name: "an impostor of a Pod", Weight: 1, Draw: func(r *rand.Rand) any {
			return impostor{drawLasting(r), r.IntN(2) == 0}
		}}, given(addImpostor)},
	})...)
}

func drawPods(r *rand.Rand) onPods { return onPods{1 + r.IntN(3)} }

// first returns the first Pods of a cache.
func (p onPods) first(ctx context.Context, w *world.World, cache string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := ask(ctx, func(ctx context.Context) error {
		return w.Client.List(ctx, list, client.InNamespace(w.Namespace), client.MatchingLabels(podLabels(cache)))
	})
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items[:min(p.Pods, len(list.Items))], err
}

// podLabels are the labels by which the Deployment of a cache selects its Pods.
func podLabels(cache string) map[string]string {
	return map[string]string{"app": "memcached", "memcached_cr": cache}
}

// eachPod returns a function that calls each with the first Pods of the step's cache.
func eachPod(each func(ctx context.Context, w *world.World, pod *corev1.Pod) error) do {
	return given(func(ctx context.Context, w *world.World, step plan.Step, with onPods) error {
		list, err := with.first(ctx, w, step.Cache)
		if err != nil {
			return err
		}
		for i := range list {
			if err := each(ctx, w, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func deletePods(options ...client.DeleteOption) do {
	return eachPod(func(ctx context.Context, w *world.World, pod *corev1.Pod) error {
		return deletePod(ctx, w, pod, options...)
	})
}

func deletePod(ctx context.Context, w *world.World, pod *corev1.Pod, options ...client.DeleteOption) error {
	options = append(options, client.Preconditions{UID: &pod.UID})
	return intrude(ctx, func(ctx context.Context) error {
		err := w.Client.Delete(ctx, pod, options...)
		if apierrors.IsConflict(err) { // Another Pod has its name now.
			return nil
		}
		return err
	})
}

func evictPods(ctx context.Context, w *world.World, step plan.Step) error {
	return eachPod(func(ctx context.Context, w *world.World, pod *corev1.Pod) error {
		return intrude(ctx, func(ctx context.Context) error {
			err := w.Client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
			if apierrors.IsTooManyRequests(err) { // The PodDisruptionBudget does not allow it.
				return nil
			}
			return err
		})
	})(ctx, w, step)
}

// unready makes running Pods not ready for a while. The simulated kubelet changes only Pods that are pending or being
// deleted, so it does not revert this status.
func unready(change func(*corev1.Pod)) do {
	return given(func(ctx context.Context, w *world.World, step plan.Step, with onPodsFor) error {
		return eachPod(func(ctx context.Context, w *world.World, pod *corev1.Pod) error {
			if pod.Status.Phase != corev1.PodRunning || !pod.DeletionTimestamp.IsZero() {
				return nil
			}
			if err := changeStatus(ctx, w, pod, change); err != nil {
				return err
			}
			endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error {
				return changeStatus(ctx, w, pod, recovers)
			})
			return nil
		})(ctx, w, step)
	})
}

// changeStatus changes the status of a Pod, if the Pod still exists.
func changeStatus(ctx context.Context, w *world.World, pod *corev1.Pod, change func(*corev1.Pod)) error {
	return intrude(ctx, func(ctx context.Context) error {
		now := &corev1.Pod{}
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(pod), now)
		if err != nil || now.UID != pod.UID {
			return err
		}
		change(now)
		return w.Client.Status().Update(ctx, now)
	})
}

func probeFails(pod *corev1.Pod) { setReady(pod, false, "ContainersNotReady") }

// recovers makes a Pod ready again, unless it has failed for good.
func recovers(pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodRunning {
		return
	}
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		container.Started = new(true)
		container.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	}
	setReady(pod, true, "")
}

func setReady(pod *corev1.Pod, is bool, reason string) {
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Ready = is
	}
	kubelet.SetConditions(pod, reason)
}

func crashes(pod *corev1.Pod) {
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		container.RestartCount += 3
		container.Started = new(false)
		container.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container",
		}}
		container.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now(),
		}}
	}
	probeFails(pod)
}

// failPods ends Pods for good, as the kubelet of a Node without free memory or disk does. Their ReplicaSet replaces
// them.
func failPods(ctx context.Context, w *world.World, step plan.Step) error {
	return eachPod(func(ctx context.Context, w *world.World, pod *corev1.Pod) error {
		return changeStatus(ctx, w, pod, func(pod *corev1.Pod) {
			probeFails(pod)
			status := &pod.Status
			status.Phase, status.Reason, status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
		})
	})(ctx, w, step)
}

// stayPending deletes Pods while all Nodes are cordoned, so that the new Pods stay pending.
func stayPending(ctx context.Context, w *world.World, step plan.Step, with onPodsFor) error {
	if err := cordon(world.WithoutEffect(ctx), w, step, onNode{lasting: with.lasting, All: true}); err != nil {
		return err
	}
	return deletePods()(ctx, w, step)
}

// relabelPods changes labels, so that the ReplicaSet releases the Pods. The step deletes these Pods in the end, because
// no controller does.
func relabelPods(ctx context.Context, w *world.World, step plan.Step) error {
	return eachPod(func(ctx context.Context, w *world.World, pod *corev1.Pod) error {
		err := intrude(ctx, func(ctx context.Context) error {
			patch := client.RawPatch(mergePatch, []byte(`{"metadata":{"labels":{"app":"debug"}}}`))
			return w.Client.Patch(ctx, pod, patch, thirdParty)
		})
		w.Later(func(ctx context.Context) error { return deletePod(ctx, w, pod, client.GracePeriodSeconds(0)) })
		return err
	})(ctx, w, step)
}

func addImpostor(ctx context.Context, w *world.World, step plan.Step, with impostor) error {
	list, err := onPods{1}.first(ctx, w, step.Cache)
	if err != nil || len(list) == 0 {
		return err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: newName(w, step.Cache+"-impostor"), Labels: podLabels(step.Cache),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "memcached", Image: "registry.example.com/impostor:1"}}},
	}
	if with.Adoptable {
		pod.Labels = list[0].Labels
	}
	if err := intrude(ctx, func(ctx context.Context) error { return w.Client.Create(ctx, pod, thirdParty) }); err != nil {
		return err
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error {
		return intrude(ctx, func(ctx context.Context) error {
			return w.Client.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: pod.Name}})
		})
	})
	return nil
}
