package observe

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// containerProblem reads the kubelet's reasons (pkg/kubelet/images and pkg/kubelet/container of Kubernetes).
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
			status.Image, status.Name, pullRemedy(pod, status.Name, waiting.Message), pullDetail(waiting.Message))
	}
	return fmt.Sprintf("container %q cannot start (%s)%s: %s",
		status.Name, waiting.Reason, foreignProgram(status.Name, waiting.Message), OneLine(waiting.Message))
}

// lacksPlatform are the words of what pulls an image that is for other platforms than the machine's.
var lacksPlatform = []string{
	"no match for platform in manifest",                // containerd
	"no image found in manifest list for architecture", // CRI-O, by containers/image
	"no image found in image index for architecture",   // the same, of an OCI index
}

// imageOf says what an image is set by.
func imageOf(container string) string {
	if container == names.Agent {
		return "the operator's RELATED_IMAGE_AGENT"
	}
	return "spec.image"
}

// otherImage is what to do about an image that a machine can't run.
func otherImage(container string) string {
	return "see " + imageOf(container) + ", or exclude these Nodes by spec.architectures"
}

// foreignProgram says what to do about an image that is labelled for the machine and holds a program for another one.
func foreignProgram(container, message string) string {
	if !strings.Contains(message, "exec format error") { // ENOEXEC, in the words of runc and of crun
		return ""
	}
	return ": the image claims the Node's architecture, but its program is for another; " + otherImage(container)
}

// pullRemedy names the pull Secrets. Whether they are there and fit only the kubelet knows: the operator does not read
// Secrets.
func pullRemedy(pod *corev1.Pod, container, message string) string {
	if slices.ContainsFunc(lacksPlatform, func(words string) bool { return strings.Contains(message, words) }) {
		return "it has no variant for the Node's architecture; " + otherImage(container)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		return "see " + imageOf(container) + "; no pull Secret is set, see spec.imagePullSecrets"
	}
	var secrets []string
	for _, secret := range pod.Spec.ImagePullSecrets {
		secrets = append(secrets, secret.Name)
	}
	return "see " + imageOf(container) + ", and check that these pull Secrets exist and match: " + strings.Join(secrets, ", ")
}

// pullDetail is the cause of a failed pull. While it backs off the kubelet wraps the cause; unwrapped, the text stays
// the same from one try to the next.
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

// exit says how a container ended that is not ready again. The words are the same while it waits to be started,
// while it runs for a moment, and when it has ended once more.
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
		detail += " (OOMKilled: it needed more memory than spec.resources.limits.memory allows)"
	default:
		detail += " (" + last.Reason + ")"
	}
	detail += foreignProgram(status.Name, last.Message)
	if said := lastWords(last.Message); said != "" {
		detail += ": " + said
	}
	return detail
}

// lastWords are the last two lines of what a container said before it ended, in which the cause is. The rest may be
// long and differs from one start to the next.
func lastWords(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	return OneLine(strings.Join(lines[max(0, len(lines)-2):], " "))
}

// ranBefore tells whether a container that runs was started before the Pod stopped being ready: then an earlier end is
// not what keeps it from answering now.
func ranBefore(pod *corev1.Pod, status *corev1.ContainerStatus) bool {
	ready := podCondition(pod, corev1.PodReady)
	return status.State.Running != nil && ready != nil &&
		status.State.Running.StartedAt.Time.Before(ready.LastTransitionTime.Time)
}
