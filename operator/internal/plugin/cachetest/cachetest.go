// Package cachetest has caches as the API server shows them, for tests of what users see.
package cachetest

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Now is the time of the tests.
var Now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// Ago returns the time that was this long before Now.
func Ago(before time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-before)) }

// uid is the uid of all caches.
const uid = "11111111-1111-1111-1111-111111111111"

// Memcached is a cache of three Pods in the namespace team, whose condition Ready has the given reason, and which has
// the given further conditions.
func Memcached(name, reason, message string, conditions ...metav1.Condition) *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: name, UID: uid, Generation: 2,
		CreationTimestamp: Ago(30 * 24 * time.Hour),
	}}
	mc.Spec.Size = new(int32(3))
	ready := Condition(cachev1.ConditionReady, reason, message)
	if ready.Status = metav1.ConditionFalse; reason == cachev1.ReasonAllPodsReady || reason == cachev1.ReasonScaledToZero {
		ready.Status, mc.Status.ReadyReplicas = metav1.ConditionTrue, 3
	}
	mc.Status.Conditions = append([]metav1.Condition{ready}, conditions...)
	mc.Status.ObservedGeneration, mc.Status.Replicas = 2, 3
	mc.Status.Endpoint = name + ".team.svc:11211"
	mc.Status.Image = "registry.example.com/memcached:1.6.45"
	return mc
}

// Condition is a condition with status True.
func Condition(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message,
		LastTransitionTime: Ago(4 * time.Minute), ObservedGeneration: 2,
	}
}

// Deployment returns the Deployment of a cache with three Pods. The arguments are how many of them are up to date, and
// how many are ready.
func Deployment(name string, upToDate, ready int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached", Name: name, UID: uid, Controller: new(true),
		}}},
		Status: appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: upToDate, ReadyReplicas: ready},
	}
}

// Pod is a ready Pod of a cache on a Node.
func Pod(cache, suffix, node string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: cache + "-5d9c7b6f4-" + suffix, CreationTimestamp: Ago(26 * time.Hour),
		Labels: names.Selector(cache),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: cache + "-5d9c7b6f4", Controller: new(true),
		}},
	}}
	pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "5d9c7b6f4"
	pod.Spec.NodeName = node
	pod.Spec.Containers = []corev1.Container{
		{Name: names.Container, Image: "registry.example.com/memcached:1.6.45"}, {Name: names.Agent, Image: "agent:0.2.0"},
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.PodIP = "10.0.0." + suffix[:1]
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: names.Container, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}
	return pod
}

// Crashing makes the memcached container of a Pod fail again and again.
func Crashing(pod corev1.Pod, exitCode int32) corev1.Pod {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: names.Container, RestartCount: 5,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container=memcached",
		}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Reason: "Error",
		}},
	}}
	return pod
}

// Pending makes a Pod unschedulable: the scheduler finds no Node for it.
func Pending(pod corev1.Pod, message string) corev1.Pod {
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
	}}
	return pod
}

// Node is a ready Node in a zone.
func Node(name, zone string) corev1.Node {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone},
	}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}

// Event is an event about an object.
func Event(kind, name, reason, message string, ago time.Duration) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Type: corev1.EventTypeNormal,
		Reason: reason, Message: message, LastTimestamp: Ago(ago),
	}
}
