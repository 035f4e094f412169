package observe

// Explains why a container does not start, from the kubelet's reasons.

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// containerProblem explains the kubelet's reasons (pkg/kubelet/images and pkg/kubelet/container of Kubernetes).
func containerProblem(pod *corev1.Pod, status *corev1.ContainerStatus) string {
	if status.Ready {
		return ""
	}
	waiting := status.State.Waiting
	if waiting == nil {
		waiting = &corev1.ContainerStateWaiting{}
	}
	switch waiting.Reason {
	case "", "ContainerCreating", "PodInitializing", "CrashLoopBackOff":
		return exit(pod, status)
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
		return fmt.Sprintf("image %q of container %q cannot be pulled (%s)%s",
			status.Image, status.Name, pullFix(pod, status.Name, waiting.Message), pullDetail(waiting.Message))
	}
	return fmt.Sprintf("container %q cannot start (%s)%s: %s",
		status.Name, waiting.Reason, wrongArchitecture(status.Name, waiting.Message), OneLine(waiting.Message))
}

// wrongPlatform are the messages of container runtimes about an image without a variant for the Node's platform.
var wrongPlatform = []string{
	"no match for platform in manifest",                // containerd
	"no image found in manifest list for architecture", // CRI-O, by containers/image
	"no image found in image index for architecture",   // CRI-O, for an OCI index
}

// imageOf names the setting that determines the image of a container.
func imageOf(container string) string {
	switch container {
	case names.Agent:
		return "the operator's RELATED_IMAGE_AGENT"
	case names.Snapshot:
		return "the operator's RELATED_IMAGE_SNAPSHOT"
	}
	return "spec.image"
}

// memoryOf returns the end of the sentence "it needed more memory than": the field of the spec that limits the memory
// of a container, unless the limit is fixed.
func memoryOf(pod *corev1.Pod, container string) string {
	isSidecar := cached.Container(pod.Status.InitContainerStatuses, container).Name != ""
	switch {
	case container == names.Container:
		return "spec.resources.limits.memory allows"
	case container == names.Agent && isSidecar: // It is no sidecar in the Pod that copies keys from other servers.
		return "spec.agent.resources.limits.memory allows"
	}
	return "its limit"
}

// otherImage returns the fix for an image that a Node cannot run.
func otherImage(container string) string {
	return "see " + imageOf(container) + ", or exclude these Nodes by spec.placement.architectures"
}

// wrongArchitecture explains an image that is labelled for the Node's architecture but holds a program for another.
func wrongArchitecture(container, message string) string {
	if !strings.Contains(message, "exec format error") { // ENOEXEC, as runc and crun report it
		return ""
	}
	return ": the image claims the Node's architecture, but its program is for another architecture; " +
		otherImage(container)
}

// pullFix returns a fix that names the pull Secrets. Only the kubelet knows whether these exist and match, because the
// operator does not read them.
func pullFix(pod *corev1.Pod, container, message string) string {
	if slices.ContainsFunc(wrongPlatform, func(words string) bool { return strings.Contains(message, words) }) {
		return "it has no variant for the Node's architecture; " + otherImage(container)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		return "see " + imageOf(container) + "; no pull Secret is set, see spec.imagePullSecrets"
	}
	var secrets []string
	for _, secret := range pod.Spec.ImagePullSecrets {
		secrets = append(secrets, secret.Name)
	}
	const check = ", and check that these pull Secrets exist and match: "
	return "see " + imageOf(container) + check + strings.Join(secrets, ", ")
}

// pullDetail returns the cause of a failed pull. While the kubelet backs off, it wraps the cause in another message.
// Without that message, the text stays the same between attempts.
func pullDetail(message string) string {
	if _, cause, wrapped := strings.Cut(message, "ErrImagePull: "); wrapped {
		message = cause
	} else if strings.HasPrefix(message, "Back-off") {
		return ""
	}
	if message == "" {
		return ""
	}
	return ": " + OneLine(message)
}

// exit describes the last exit of a container that is not ready. The text stays the same while the container waits
// for a restart, runs briefly, and exits again.
func exit(pod *corev1.Pod, status *corev1.ContainerStatus) string {
	if ranBefore(pod, status) {
		return ""
	}
	last := status.State.Terminated
	if last == nil {
		last = status.LastTerminationState.Terminated
	}
	if last == nil {
		return ""
	}
	detail := fmt.Sprintf("container %q exited with code %d and is restarted", status.Name, last.ExitCode)
	switch last.Reason {
	case "", "Error", "Completed":
	case "OOMKilled":
		detail += " (OOMKilled: it needed more memory than " + memoryOf(pod, status.Name) + ")"
	default:
		detail += " (" + last.Reason + ")"
	}
	detail += wrongArchitecture(status.Name, last.Message)
	if said := lastLines(last.Message); said != "" {
		detail += ": " + said
	}
	return detail
}

// lastLines returns the last two lines of a container's termination message, which hold the cause. The rest may be
// long and differs between starts.
func lastLines(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	return OneLine(strings.Join(lines[max(0, len(lines)-2):], " "))
}

// ranBefore reports whether a running container started before the Pod stopped being ready. If so, the container's last
// exit is not the reason why the Pod is not ready.
func ranBefore(pod *corev1.Pod, status *corev1.ContainerStatus) bool {
	ready := cached.Condition(pod, corev1.PodReady)
	return status.State.Running != nil && ready != nil &&
		status.State.Running.StartedAt.Time.Before(ready.LastTransitionTime.Time)
}
