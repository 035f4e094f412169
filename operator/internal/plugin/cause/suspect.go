package cause

// Finds the Pod that is the most likely cause, and its log.

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
)

// Source is the log of a container.
type Source struct {
	Pod       string
	Container string

	// Previous: the log is that of the previous run of the container.
	Previous bool
}

// String names the log.
func (s Source) String() string {
	if s.Previous {
		return "Log of " + s.Container + ", previous run"
	}
	return "Log of " + s.Container
}

// Suspect returns the Pod that is the most likely cause, and its log if it has one: a Pod with a problem comes before a
// Pod that is only not ready. Of several such Pods, it is the newest, because that Pod has the current template.
func Suspect(o access.Observed) (*corev1.Pod, Source, bool) { return suspectOf(o.Pods) }

// BootstrapSuspect returns the Pod that copies the keys of other servers, unless that Pod is ready: clients may then
// use both the other servers and the cache.
func BootstrapSuspect(o access.Observed) (*corev1.Pod, Source, bool) { return suspectOf(o.Bootstrap) }

func suspectOf(pods []corev1.Pod) (*corev1.Pod, Source, bool) {
	var suspects []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if !cached.IsTrue(pod, corev1.PodReady) && pod.DeletionTimestamp.IsZero() {
			suspects = append(suspects, pod)
		}
	}
	if len(suspects) == 0 {
		return nil, Source{}, false
	}
	slices.SortStableFunc(suspects, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(age(b), age(a)))
	})
	source, _ := SourceOf(suspects[0])
	return suspects[0], source, true
}

// weight is greater for a Pod that is more likely the cause.
func weight(pod *corev1.Pod) int {
	if observe.ProblemOf(pod) != "" {
		return 1
	}
	return 0
}

// SourceOf returns the log of the first container that ended or, if none did, of the first that runs and is not ready.
// A container that ended comes first, because an agent that runs may only be waiting for memcached.
func SourceOf(pod *corev1.Pod) (Source, bool) {
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	statuses = slices.DeleteFunc(statuses, func(status corev1.ContainerStatus) bool { return status.Ready })
	for i := range statuses {
		status := &statuses[i]
		source := Source{Pod: pod.Name, Container: status.Name}
		switch {
		case status.State.Terminated != nil:
			return source, true
		case status.LastTerminationState.Terminated != nil:
			source.Previous = true
			return source, true
		}
	}
	for i := range statuses {
		if statuses[i].State.Running != nil {
			return Source{Pod: pod.Name, Container: statuses[i].Name}, true
		}
	}
	return Source{}, false
}
