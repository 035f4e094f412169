package status

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

// state is what the conditions boil down to.
type state int

const (
	// done: Ready is True.
	done state = iota

	// underWay: Ready is False and Reconciling is True.
	underWay

	// stuck: Ready is False and Stalled is True.
	stuck
)

// verdict is what a check found.
type verdict struct {
	state   state
	reason  string
	message string
}

// check judges a cache, or passes.
type check func(Input) (verdict, bool)

// checks are asked in turn; the first that does not pass gives the reason. Their messages hold nothing that changes
// while the cache does not: no random names, and no times but that of the change that a fight began to pause with.
var checks = []check{
	// Make sure that the spec is possible.
	specIsValid,
	// Make sure that memcached could use what the Secrets hold.
	secretsAreThere, secretsAreValid,
	// Make sure that nothing stands in the way of a child.
	objectsAreOwned,
	// Make sure that nobody takes back what we set.
	noConflict,
	// Make sure that the API server took what was applied.
	applySucceeded,
	// Make sure that no child is on its way out.
	nothingTerminates,
	// Make sure that there is something to tell of, where nothing may be written.
	podsExist,
	// Make sure that what we know of the Pods is not older than what we wrote.
	deploymentIsObserved,
	// Make sure that nothing keeps a node from coming up.
	podsStart,
	// Make sure that every node is of the current template, and that no older one is left.
	rolloutIsComplete,
	// Make sure that each node answers.
	podsAreReady,
	// Make sure that clients trust what the nodes serve.
	certificateHolds,
}

func judge(in Input) verdict {
	for _, check := range checks {
		if verdict, failed := check(in); failed {
			verdict.message += exposure(in)
			return late(in, verdict)
		}
	}
	if size := wantedSize(in); size > 0 {
		return verdict{done, cachev1.ReasonAllPodsReady, ofPods(size, size, "ready")}
	}
	return verdict{done, cachev1.ReasonScaledToZero, "The size is 0: no Pods are expected"}
}

// wantedSize is the planned size; that of the Deployment while nothing may be written to it.
func wantedSize(in Input) int32 {
	deployment := in.deployment()
	if in.Plan.Suspended && deployment != nil && deployment.Spec.Replicas != nil {
		return *deployment.Spec.Replicas
	}
	return in.Plan.Size
}

func specIsValid(in Input) (verdict, bool) {
	if _, invalid := errors.AsType[*plan.InvalidSpec](in.Err); invalid {
		return verdict{stuck, cachev1.ReasonInvalidSpec, in.Err.Error()}, true
	}
	if in.Report.SpecRefused() {
		return verdict{stuck, cachev1.ReasonInvalidSpec, oneLine(in.Report.Err())}, true
	}
	return verdict{}, false
}

func objectsAreOwned(in Input) (verdict, bool) {
	return explained(in, apply.NotOwned, verdict{state: stuck, reason: cachev1.ReasonOwnershipConflict})
}

func noConflict(in Input) (verdict, bool) {
	var fights []string
	for _, outcome := range in.Report {
		if outcome.Result == apply.Conflicting {
			fights = append(fights, fmt.Sprintf("%s %q: another client keeps overwriting fields: %s. The operator waits at most "+
				"ten minutes before it reverts them again. Fix: %s", outcome.Kind, outcome.Name,
				drift.Describe(outcome.Drift), drift.Fixes(outcome.Kind, outcome.Drift)))
		}
	}
	message := strings.Join(fights, "; ")
	return verdict{stuck, cachev1.ReasonFieldManagerConflict, message}, len(fights) > 0
}

func nothingTerminates(in Input) (verdict, bool) {
	return explained(in, apply.Terminating, verdict{state: underWay, reason: cachev1.ReasonRollingOut})
}

// explained gives a verdict the explanations of the children with an outcome, if there are any.
func explained(in Input, outcome apply.Result, v verdict) (verdict, bool) {
	explanations := in.Report.Why(outcome)
	v.message = strings.Join(explanations, "; ")
	return v, len(explanations) > 0
}

func applySucceeded(in Input) (verdict, bool) {
	err := errors.Join(in.Err, in.Snapshot.Err(), in.Report.Err())
	if err == nil {
		return verdict{}, false
	}
	return verdict{underWay, cachev1.ReasonApplyFailed, oneLine(err)}, true
}

func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

func podsExist(in Input) (verdict, bool) {
	if !in.Plan.Suspended || in.deployment() != nil {
		return verdict{}, false
	}
	const message = "No Deployment exists: set spec.suspend to false to create it"
	return verdict{stuck, cachev1.ReasonSuspended, message}, true
}

func deploymentIsObserved(in Input) (verdict, bool) {
	deployment := in.deployment()
	if deployment != nil {
		wanted := max(deployment.Generation, in.Report.Generation(observe.DeploymentKind.GroupKind()))
		if deployment.Status.ObservedGeneration >= wanted {
			return verdict{}, false
		}
	}
	// What the Pods are like is not known yet; the Deployment's next event tells.
	return rollingOut(in, "ready", min(in.deployed().ReadyReplicas, wantedSize(in)))
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
	deployed, size := in.deployed(), wantedSize(in)
	switch {
	case deployed.UpdatedReplicas == size && deployed.Replicas == size:
		return verdict{}, false
	case in.isPaused():
		return rollingOutBut(in, "the rollout is paused: set spec.suspend to false to resume it")
	case in.deployment() != nil && in.deployment().Spec.Paused:
		return rollingOutBut(in, "the Deployment is paused: kubectl rollout resume deployment "+in.Plan.Name)
	case progressDeadlineExceeded(deployed):
		return notReady(in, fmt.Sprintf(", %d of them up to date", deployed.UpdatedReplicas))
	case deployed.Replicas == deployed.UpdatedReplicas && deployed.Replicas > size:
		message := fmt.Sprintf("Pods above the size of %d still to be deleted: %d", size, deployed.Replicas-size)
		return verdict{underWay, cachev1.ReasonRollingOut, message}, true
	}
	what, count := progress(in)
	return rollingOut(in, what, count)
}

// progress counts the nodes that took the place of an older one: as many as there are new ones, and no more than there
// are older ones gone. Where there is none left, nodes are still to be made.
func progress(in Input) (what string, count int32) {
	deployed, size := in.deployed(), wantedSize(in)
	if older := deployed.Replicas - deployed.UpdatedReplicas; older > 0 {
		return "replaced", max(0, min(deployed.UpdatedReplicas, size-older))
	}
	return "up to date", deployed.UpdatedReplicas
}

func podsAreReady(in Input) (verdict, bool) {
	deployed, size := in.deployed(), wantedSize(in)
	switch {
	case deployed.AvailableReplicas == size && deployed.ReadyReplicas == size:
		return verdict{}, false
	case progressDeadlineExceeded(deployed), wasReady(in):
		return notReady(in, unresponsive(in))
	case deployed.ReadyReplicas == size:
		return rollingOut(in, "ready for minReadySeconds", deployed.AvailableReplicas)
	}
	return rollingOut(in, "ready", deployed.ReadyReplicas)
}

func rollingOut(in Input, what string, count int32) (verdict, bool) {
	return verdict{underWay, cachev1.ReasonRollingOut, ofPods(count, wantedSize(in), what)}, true
}

func rollingOutBut(in Input, detail string) (verdict, bool) {
	what, count := progress(in)
	v, failed := rollingOut(in, what, count)
	v.message += "; " + detail
	return v, failed
}

func notReady(in Input, detail string) (verdict, bool) {
	ready := in.deployed().ReadyReplicas
	message := ofPods(ready, wantedSize(in), "ready") + detail
	return verdict{underWay, cachev1.ReasonPodsNotReady, message}, true
}

func ofPods(count, size int32, what string) string {
	return fmt.Sprintf("%d of %d Pods %s", count, size, what)
}

// wasReady tells whether the current spec has been rolled out before: nodes that are missing now have failed, and are
// not on their way.
func wasReady(in Input) bool {
	before := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionReady)
	if before == nil || before.ObservedGeneration != in.Memcached.Generation {
		return false
	}
	switch before.Reason {
	case cachev1.ReasonAllPodsReady, cachev1.ReasonPodsNotReady, cachev1.ReasonProgressDeadlineExceeded:
		return true
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
