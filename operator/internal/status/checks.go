package status

// The list of checks: the first finding determines the reason of Ready.

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// state is the part of a verdict that determines the conditions.
type state int

const (
	// done: Ready is True.
	done state = iota

	// reconciling: Ready is False and Reconciling is True.
	reconciling

	// stalled: Ready is False and Stalled is True.
	stalled
)

// verdict is the result of a check.
type verdict struct {
	state   state
	reason  string
	message string
}

// check examines one aspect of a cache. It returns false if it found no problem.
type check func(Input) (verdict, bool)

// checks run in order; the first finding determines the reason. Messages change only when the cache changes, so they
// have no random names, and no times except the time of the change which started a conflict.
var checks = []check{
	// The spec is valid.
	specIsValid,
	// The certificate of an issuer can be requested.
	certificateIsAvailable,
	// The Secrets exist and memcached can use them.
	secretsExist, secretsAreValid,
	// No unowned object has the name of a managed object.
	objectsAreOwned,
	// No other client keeps overwriting the operator's fields.
	noConflict,
	// The API server accepted what was applied.
	applySucceeded,
	// No managed object is being deleted.
	nothingTerminates,
	// No change waits for the end of a bootstrap.
	nothingWaits,
	// A suspended Memcached has a Deployment.
	podsExist,
	// The Deployment's status reflects the last write.
	deploymentIsObserved,
	// No Pod has a problem that keeps it from becoming ready.
	podsStart,
	// Every Pod has the current template.
	rolloutIsComplete,
	// Every Pod is ready.
	podsAreReady,
	// Every Pod has the memory of the spec.
	podsAreResized,
	// The certificate has not expired.
	certificateIsValid,
}

func judge(in Input) verdict {
	for _, check := range checks {
		if verdict, failed := check(in); failed {
			verdict.message += exposure(in) + handoffProgress(in, verdict)
			return late(in, verdict)
		}
	}
	if size := desiredSize(in); size > 0 {
		return verdict{done, cachev1.ReasonAllPodsReady, countOf(size, size, "ready")}
	}
	return verdict{done, cachev1.ReasonScaledToZero, "The size is 0: no Pods are expected"}
}

// desiredSize returns the planned size or, while the Memcached is suspended, the size of the Deployment.
func desiredSize(in Input) int32 {
	deployment := in.deployment()
	if in.Plan.Suspended && deployment != nil && deployment.Spec.Replicas != nil {
		return *deployment.Spec.Replicas
	}
	return in.Plan.Size
}

func specIsValid(in Input) (verdict, bool) {
	if in.Invalid != nil {
		return verdict{stalled, cachev1.ReasonInvalidSpec, in.Invalid.Message()}, true
	}
	if in.Report.SpecRefused() {
		return verdict{stalled, cachev1.ReasonInvalidSpec, oneLine(in.Report.Err())}, true
	}
	return verdict{}, false
}

func objectsAreOwned(in Input) (verdict, bool) {
	return explained(in, apply.NotOwned, verdict{state: stalled, reason: cachev1.ReasonOwnershipConflict})
}

func noConflict(in Input) (verdict, bool) {
	var conflicts []string
	for _, outcome := range in.Report {
		if outcome.Result == apply.Conflicting {
			conflicts = append(conflicts, fmt.Sprintf("%s %q: another client keeps overwriting fields: %s. The operator waits "+
				"at most ten minutes before it reverts them again. Fix: %s", outcome.Kind, outcome.Name,
				drift.Describe(outcome.Drift), drift.Fixes(outcome.Kind, outcome.Drift)))
		}
	}
	message := strings.Join(conflicts, "; ")
	return verdict{stalled, cachev1.ReasonFieldManagerConflict, message}, len(conflicts) > 0
}

func nothingTerminates(in Input) (verdict, bool) {
	return explained(in, apply.Terminating, verdict{state: reconciling, reason: cachev1.ReasonRollingOut})
}

// explained returns the verdict with a message that explains the objects with this outcome. It returns false if no
// object has this outcome.
func explained(in Input, outcome apply.Result, v verdict) (verdict, bool) {
	explanations := in.Report.Why(outcome)
	v.message = strings.Join(explanations, "; ")
	return v, len(explanations) > 0
}

func applySucceeded(in Input) (verdict, bool) {
	err := errors.Join(in.Err, in.Snapshot.Err(), in.Report.Err(), in.PodsErr)
	if err == nil {
		return verdict{}, false
	}
	return verdict{reconciling, cachev1.ReasonApplyFailed, oneLine(err)}, true
}

func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

func nothingWaits(in Input) (verdict, bool) {
	const message = "A change to the size or to the Pods waits until spec.bootstrap is removed: clients may use the " +
		"other servers and the cache at the same time"
	return verdict{stalled, cachev1.ReasonKeysMoving, message}, in.Blocked == plan.KeysMove
}

func podsExist(in Input) (verdict, bool) {
	if !in.Plan.Suspended || in.deployment() != nil {
		return verdict{}, false
	}
	const message = "No Deployment exists: set spec.suspend to false to create it"
	return verdict{stalled, cachev1.ReasonSuspended, message}, true
}

func deploymentIsObserved(in Input) (verdict, bool) {
	deployment := in.deployment()
	if deployment != nil {
		wanted := max(deployment.Generation, in.Report.Generation(observe.DeploymentKind.GroupKind()))
		if deployment.Status.ObservedGeneration >= wanted {
			return verdict{}, false
		}
	}
	// The state of the Pods is not known yet. The Deployment's next event causes a reconciliation that knows this state.
	return rollingOut(in, "ready", min(in.deployed().ReadyReplicas, desiredSize(in)))
}

func podsStart(in Input) (verdict, bool) {
	problem := problemsOf(in)
	if problem == "" {
		return verdict{}, false
	}
	if len(in.Plan.Pending) > 0 {
		problem += "; an update to the operator's defaults is pending: see the condition " + cachev1.ConditionUpdatePending
	}
	return notReady(in, "; "+problem)
}

func rolloutIsComplete(in Input) (verdict, bool) {
	deployed, size := in.deployed(), desiredSize(in)
	switch {
	case deployed.UpdatedReplicas == size && deployed.Replicas == size:
		return verdict{}, false
	case in.isPaused():
		return rollingOutBut(in, "the rollout is paused: set spec.suspend to false to resume it")
	case in.deployment() != nil && in.deployment().Spec.Paused:
		return rollingOutBut(in, "the Deployment is paused: kubectl rollout resume deployment "+in.Plan.Name)
	case progressDeadlineExceeded(deployed):
		return notReady(in, "; "+countOf(deployed.UpdatedReplicas, size, "up to date"))
	case deployed.Replicas == deployed.UpdatedReplicas && deployed.Replicas > size:
		message := fmt.Sprintf("The size is %d; Pods still to be deleted: %d", size, deployed.Replicas-size)
		return verdict{reconciling, cachev1.ReasonRollingOut, message}, true
	}
	what, count := progress(in)
	return rollingOut(in, what, count)
}

// progress counts the new Pods that replaced an older Pod, so it counts no more Pods than were deleted. If no older
// Pods are left, it counts the Pods with the current template.
func progress(in Input) (what string, count int32) {
	deployed, size := in.deployed(), desiredSize(in)
	if older := deployed.Replicas - deployed.UpdatedReplicas; older > 0 {
		return "replaced", max(0, min(deployed.UpdatedReplicas, size-older))
	}
	return "up to date", deployed.UpdatedReplicas
}

func podsAreReady(in Input) (verdict, bool) {
	deployed, size := in.deployed(), desiredSize(in)
	switch {
	case deployed.AvailableReplicas == size && deployed.ReadyReplicas == size:
		return verdict{}, false
	case progressDeadlineExceeded(deployed), wasReady(in) && !handsOver(in):
		return notReady(in, unresponsive(in))
	case deployed.ReadyReplicas == size:
		return rollingOut(in, "ready for minReadySeconds", deployed.AvailableReplicas)
	}
	return rollingOut(in, "ready", deployed.ReadyReplicas)
}

func rollingOut(in Input, what string, count int32) (verdict, bool) {
	reason := cachev1.ReasonRollingOut
	if handsOver(in) {
		reason = cachev1.ReasonHandingOver
	}
	return verdict{reconciling, reason, countOf(count, desiredSize(in), what)}, true
}

func rollingOutBut(in Input, detail string) (verdict, bool) {
	what, count := progress(in)
	v, failed := rollingOut(in, what, count)
	v.reason = cachev1.ReasonRollingOut
	v.message += "; " + detail
	return v, failed
}

func notReady(in Input, detail string) (verdict, bool) {
	ready := in.deployed().ReadyReplicas
	message := countOf(ready, desiredSize(in), "ready") + detail
	return verdict{reconciling, cachev1.ReasonPodsNotReady, message}, true
}

func countOf(count, size int32, what string) string {
	return fmt.Sprintf("%d of %d Pods %s", count, size, what)
}

// wasReady reports whether the current spec was rolled out before. If so, Pods that are missing or not ready have
// failed, and are not still starting.
func wasReady(in Input) bool {
	before := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionReady)
	if before == nil || before.ObservedGeneration != in.Memcached.Generation {
		return false
	}
	switch before.Reason {
	case cachev1.ReasonAllPodsReady, cachev1.ReasonPodsNotReady, cachev1.ReasonProgressDeadlineExceeded:
		return true
	case cachev1.ReasonHandingOver:
		progressing := deploymentCondition(in.deployed(), appsv1.DeploymentProgressing)
		return progressing != nil && progressing.Reason == replicaSetAvailable
	}
	return false
}

func progressDeadlineExceeded(deployed appsv1.DeploymentStatus) bool {
	condition := deploymentCondition(deployed, appsv1.DeploymentProgressing)
	return condition != nil && condition.Status == corev1.ConditionFalse
}

func deploymentCondition(
	deployed appsv1.DeploymentStatus, conditionType appsv1.DeploymentConditionType,
) *appsv1.DeploymentCondition {
	for i := range deployed.Conditions {
		if deployed.Conditions[i].Type == conditionType {
			return &deployed.Conditions[i]
		}
	}
	return nil
}
