package cause

// The advice about Pods that are missing, or not ready.

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// inspect returns commands that show the Pod which is the cause, and what to correct, if that is known.
func (c commands) inspect() []Advice {
	pod, source, found := Suspect(c.Observed)
	switch {
	case slices.Contains(c.Unread, "Pods"):
		return c.one("auth can-i --list", "see your rights: the role in docs/kubectl-memcached.md#rights shows more")
	case !found:
		return c.missing()
	}
	advice := c.one("describe pod "+pod.Name, "see its events")
	if source.Container != "" {
		logs := fmt.Sprintf("logs %s -c %s", pod.Name, source.Container)
		if source.Previous {
			logs += " --previous"
		}
		advice = append(c.one(logs, "read the whole log"), advice...)
	}
	return append(advice, c.correct(pod)...)
}

// missing returns commands that show why there are fewer Pods than expected.
func (c commands) missing() []Advice {
	advice := c.one("describe replicaset -l "+names.LabelInstance+"="+c.Memcached.Name, "see why Pods are missing")
	if c.Deployment == nil {
		return advice
	}
	for _, condition := range c.Deployment.Status.Conditions {
		failed := condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue
		if failed && strings.Contains(condition.Message, "exceeded quota") {
			return c.one("describe resourcequota", "see what is left of the quota: raise it, and wait some minutes for "+
				"Kubernetes to try again, or lower spec.size or spec.memory")
		}
	}
	return advice
}

// correct returns which field of the spec is the likely mistake.
func (c commands) correct(pod *corev1.Pod) []Advice {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
			nodes := Advice{"kubectl describe nodes", "see what room the Nodes have, and their taints and labels"}
			return append([]Advice{nodes}, c.edit("correct spec.memory or spec.placement, if no Node can have the Pod")...)
		}
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		waiting, ended := status.State.Waiting, status.LastTerminationState.Terminated
		switch {
		case status.Name != names.Container:
		case waiting != nil && isPull(waiting.Reason):
			return c.edit("correct spec.image, or name the registry's Secret in spec.imagePullSecrets")
		case ended != nil && ended.Reason == "Error":
			return c.edit("correct the argument that the log names, if it names one: see spec.extraArgs")
		}
	}
	return nil
}

// isPull reports whether a container waits because the kubelet cannot pull an image.
func isPull(reason string) bool {
	return slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName"}, reason)
}
