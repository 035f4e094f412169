package status

// The messages about a Job that saves or restores a cache: its progress, and why it or its Pod fails.

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// soon is how long a Job may be without a running Pod before the message says so.
const soon = time.Minute

// runs describes a Job that has not ended.
func runs(job *batchv1.Job, pods []corev1.Pod, now time.Time, name, does string) string {
	starts := false
	for i := range pods {
		if pods[i].Status.Phase != corev1.PodPending {
			continue
		}
		if problem := observe.ProblemOf(&pods[i]); problem != "" {
			return fmt.Sprintf("The Pod of the Job %q does not start: %s", name, problem)
		}
		starts = true
	}
	isLate := now.Sub(job.CreationTimestamp.Time) > soon && !observe.IsJobBusy(job)
	switch {
	case starts && isLate:
		return fmt.Sprintf("The Pod of the Job %q does not start. Its events have the cause: "+
			"kubectl -n %s describe pods -l %s=%[1]s", name, job.Namespace, batchv1.JobNameLabel)
	case job.Status.Failed > 0:
		return fmt.Sprintf("Job %q tries again: %s", name, cmp.Or(said(pods), "the Pod of the last attempt was deleted"))
	case len(pods) == 0 && isLate:
		return fmt.Sprintf("Job %q has no Pod. Its events have the cause, such as a quota: kubectl -n %s describe job %[1]s",
			name, job.Namespace)
	}
	return fmt.Sprintf("Job %q %s", name, does)
}

// causeOf returns the reason why a Job failed.
func causeOf(pods []corev1.Pod, ended batchv1.JobCondition) string {
	if text := said(pods); text != "" {
		return text
	}
	return observe.OneLine(ended.Message)
}

// resultOf returns the result that the Pod of a successful Job wrote.
func resultOf(pods []corev1.Pod) (text string, known bool) {
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodSucceeded {
			return terminationMessage(&pods[i]), true
		}
	}
	return "", false
}

// said returns the error of the last attempt that failed, without the progress that its log has before the error.
func said(pods []corev1.Pod) string {
	var last *corev1.Pod
	for i := range pods {
		newer := last == nil || last.CreationTimestamp.Before(&pods[i].CreationTimestamp)
		if pods[i].Status.Phase == corev1.PodFailed && newer {
			last = &pods[i]
		}
	}
	if last == nil {
		return ""
	}
	message := strings.TrimSpace(terminationMessage(last))
	if _, cause, found := strings.Cut("\n"+message, "\nerror: "); found {
		return observe.OneLine(cause)
	}
	if _, trace, found := strings.Cut("\n"+message, "\npanic: "); found { // The stack trace is for developers.
		cause, _, _ := strings.Cut(trace, "\n")
		return observe.OneLine("panic: " + cause)
	}
	terminated := cached.Container(last.Status.ContainerStatuses, names.Snapshot).State.Terminated
	switch {
	case message != "":
		return observe.OneLine(message[strings.LastIndex(message, "\n")+1:])
	case terminated != nil:
		return fmt.Sprintf("container %q exited with code %d (%s)", names.Snapshot, terminated.ExitCode, terminated.Reason)
	}
	return observe.OneLine(strings.TrimSpace(last.Status.Reason + " " + last.Status.Message))
}

func terminationMessage(pod *corev1.Pod) string {
	if terminated := cached.Container(pod.Status.ContainerStatuses, names.Snapshot).State.Terminated; terminated != nil {
		return terminated.Message
	}
	return ""
}
