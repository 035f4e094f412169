package status

// The condition Bootstrapped about the keys of other servers. A condition about a snapshot stays as it is.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// setBootstrapped reports how far the move from other servers is, and what the user is to do next. It does not change
// Ready, because the Pods serve all clients in any case.
func setBootstrapped(status *cachev1.MemcachedStatus, in Input) {
	if plan.WantedSnapshot(in.Memcached) != nil {
		status.BootstrapCutOverSince = nil
		keepRestored(status, in.Memcached)
		return
	}
	status.RestoredSnapshot = ""
	removeRestored(status)
	if in.Memcached.Spec.Bootstrap == nil {
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionBootstrapped)
		status.BootstrapCutOverSince = nil
		return
	}
	if !in.isPlanned() || in.Plan.Bootstrap == nil || in.Plan.Suspended {
		return // The condition stays as it is.
	}
	if in.Plan.Bootstrap.Moved && status.BootstrapCutOverSince == nil {
		status.BootstrapCutOverSince = new(metav1.NewTime(in.Now.Truncate(time.Second)))
	}
	reason, message := bootstrapped(in.Plan.Bootstrap, in.Memcached.Name)
	writeBootstrapped(status, reason, message, in.Memcached.Generation, in.Now)
}

// writeBootstrapped sets the condition.
func writeBootstrapped(status *cachev1.MemcachedStatus, reason, message string, generation int64, now time.Time) {
	condition := metav1.Condition{
		Type: cachev1.ConditionBootstrapped, Status: metav1.ConditionFalse, Reason: reason,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		Message: Shorten(message, longestMessage),
	}
	if reason == cachev1.ReasonBootstrapCutOver || reason == cachev1.ReasonBootstrapRestored {
		condition.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

// bootstrapped returns the reason and the message of the condition.
func bootstrapped(b *plan.Bootstrap, cache string) (reason, message string) {
	pod := b.Pod
	if pod == nil {
		pod = &plan.BootstrapPod{}
	}
	switch {
	case b.Waits:
		return cachev1.ReasonBootstrapWaiting, "No key is copied yet: not every slot has a Pod"
	case !pod.Follows && pod.Failure.Reason != "":
		return cachev1.ReasonBootstrapFailed, fmt.Sprintf("%s: %s. The next attempt %s%s",
			pod.Failure.Reason, pod.Failure.Error, nextAttempt(b), without(b))
	case pod.Problem != "" && !pod.Follows:
		return cachev1.ReasonBootstrapWaiting, fmt.Sprintf("The Pod of the Deployment %q does not start: %s%s",
			names.Bootstrap(cache), pod.Problem, without(b))
	case !pod.Runs, pod.Phase == instruction.PhaseNone:
		return cachev1.ReasonBootstrapWaiting, fmt.Sprintf("The Pod of the Deployment %q starts%s%s", names.Bootstrap(cache),
			secretsOf(b), without(b))
	case !pod.Follows:
		return cachev1.ReasonBootstrapCopying, fmt.Sprintf("The keys of %d servers are being copied; for the progress, "+
			"see the log of the Deployment %q%s", len(b.From), names.Bootstrap(cache), without(b))
	case pod.Phase == instruction.PhaseMoved && pod.Ready:
		return cachev1.ReasonBootstrapCutOver, "Clients may use the other servers and the slots at the same time. " +
			"Let all clients use only the slots, then remove spec.bootstrap, and only after that the other servers"
	case pod.Phase == instruction.PhaseMoved:
		return cachev1.ReasonBootstrapResuming, fmt.Sprintf("The Pod of the Deployment %q has started again. It is not "+
			"known which keys clients changed in the meantime, "+
			"so all keys are being removed from the other servers and the cache. "+
			"Until all keys are removed, clients may read outdated values", names.Bootstrap(cache))
	case b.Phase == instruction.PhaseFollow:
		return cachev1.ReasonBootstrapFollowing, "All keys are copied, and those that change are copied again. To let " +
			"clients use the cache, set spec.bootstrap.mode to CutOver"
	}
	return cachev1.ReasonBootstrapCuttingOver, "The last changes are being copied: clients must not write to the cache yet"
}

// nextAttempt says what an attempt does after a failure.
func nextAttempt(b *plan.Bootstrap) string {
	if b.Moved {
		return "removes all keys from the other servers and the cache, because it is not known which keys clients changed"
	}
	return "copies the keys from the beginning"
}

// secretsOf names the Secrets without which the Pod does not start: the kubelet reports a missing Secret only with an
// event.
func secretsOf(b *plan.Bootstrap) string {
	needed := slices.DeleteFunc([]string{b.FromTLSSecret, b.FromAuthSecret}, func(name string) bool { return name == "" })
	if len(needed) == 0 {
		return ""
	}
	return "; it cannot start without these Secrets: " + strings.Join(needed, ", ")
}

// without returns a warning for the time when clients may use both the other servers and the cache: the warning says
// which keys are lost if the copy is interrupted during this time.
func without(b *plan.Bootstrap) string {
	if !b.Moved {
		return ""
	}
	return ". Clients may use both the other servers and the cache. " +
		"Until both are kept consistent again, a key that clients change in one of them is not removed from the other: " +
		"to lose no more keys, let clients use only one of them"
}
