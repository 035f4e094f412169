package status

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
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

// checks are asked in turn; the first that does not pass gives the reason. Their messages hold nothing that
// changes while the cache does not: no times, no random names.
var checks = []check{
	// Make sure that the spec is possible.
	specIsValid,
	// Make sure that nothing stands in the way of a child.
	childrenAreOurs,
	// Make sure that the API server took what was applied.
	applySucceeded,
	// Make sure that what we know of the Pods is not older than what we wrote.
	deploymentIsObserved,
	// Make sure that every node is of the current template, and that no older one is left.
	rolloutIsComplete,
	// Make sure that each node answers.
	nodesAreReady,
}

func judge(in Input) verdict {
	for _, check := range checks {
		if verdict, failed := check(in); failed {
			return verdict
		}
	}
	if in.Plan.Size == 0 {
		return verdict{done, cachev1.ReasonScaledToZero, "The size is 0: there are no nodes to wait for"}
	}
	return verdict{done, cachev1.ReasonAllNodesReady, ofNodes(in.Plan.Size, in.Plan.Size, "ready")}
}

func specIsValid(in Input) (verdict, bool) {
	var invalid *plan.InvalidSpec
	if !errors.As(in.Err, &invalid) {
		return verdict{}, false
	}
	return verdict{stuck, cachev1.ReasonInvalidSpec, invalid.Error()}, true
}

func childrenAreOurs(in Input) (verdict, bool) {
	refused, ok := in.Report.Refused()
	if !ok {
		return verdict{}, false
	}
	return verdict{stuck, cachev1.ReasonOwnershipConflict, conflictMessage(refused)}, true
}

func conflictMessage(refused apply.Outcome) string {
	owner := "has no owner"
	if refused.Owner != "" {
		owner = "belongs to " + refused.Owner
	}
	return fmt.Sprintf("%s %q exists already and %s, so it was left as it is: "+
		"delete or rename it, or give this Memcached another name", refused.Kind, refused.Name, owner)
}

func applySucceeded(in Input) (verdict, bool) {
	if in.Err == nil {
		return verdict{}, false
	}
	return verdict{underWay, cachev1.ReasonApplyFailed, in.Err.Error()}, true
}

func deploymentIsObserved(in Input) (verdict, bool) {
	deployment := in.Snapshot.Deployment()
	if deployment != nil {
		wanted := max(deployment.Generation, in.Report.Generation(observe.DeploymentKind.GroupKind()))
		if deployment.Status.ObservedGeneration >= wanted {
			return verdict{}, false
		}
	}
	// What the Pods are like is not known yet; the Deployment's next event tells.
	return rollingOut(in, "ready", min(deploymentStatus(in.Snapshot).ReadyReplicas, in.Plan.Size))
}

func rolloutIsComplete(in Input) (verdict, bool) {
	deployed := deploymentStatus(in.Snapshot)
	switch {
	case deployed.UpdatedReplicas == in.Plan.Size && deployed.Replicas == in.Plan.Size:
		return verdict{}, false
	case progressDeadlineExceeded(deployed):
		message := fmt.Sprintf("%s, %d of them up to date",
			ofNodes(deployed.ReadyReplicas, in.Plan.Size, "ready"), deployed.UpdatedReplicas)
		return verdict{underWay, cachev1.ReasonNodesNotReady, message}, true
	case deployed.UpdatedReplicas >= in.Plan.Size:
		message := fmt.Sprintf("%d more than the size of %d still to be removed",
			deployed.Replicas-in.Plan.Size, in.Plan.Size)
		return verdict{underWay, cachev1.ReasonRollingOut, message}, true
	}
	return rollingOut(in, "up to date", deployed.UpdatedReplicas)
}

func nodesAreReady(in Input) (verdict, bool) {
	deployed := deploymentStatus(in.Snapshot)
	switch {
	case deployed.AvailableReplicas == in.Plan.Size && deployed.ReadyReplicas == in.Plan.Size:
		return verdict{}, false
	case progressing(deployed):
		return rollingOut(in, "ready", deployed.ReadyReplicas)
	}
	return verdict{underWay, cachev1.ReasonNodesNotReady, ofNodes(deployed.ReadyReplicas, in.Plan.Size, "ready")}, true
}

func rollingOut(in Input, what string, count int32) (verdict, bool) {
	return verdict{underWay, cachev1.ReasonRollingOut, ofNodes(count, in.Plan.Size, what)}, true
}

// progressing tells whether the Deployment's rollout is still under way, in the Deployment's own words: its
// Progressing condition has the reason NewReplicaSetAvailable once it is complete.
func progressing(deployed appsv1.DeploymentStatus) bool {
	condition := progressingCondition(deployed)
	return condition == nil || condition.Status == corev1.ConditionTrue && condition.Reason != "NewReplicaSetAvailable"
}

func progressDeadlineExceeded(deployed appsv1.DeploymentStatus) bool {
	condition := progressingCondition(deployed)
	return condition != nil && condition.Status == corev1.ConditionFalse
}

func progressingCondition(deployed appsv1.DeploymentStatus) *appsv1.DeploymentCondition {
	for i := range deployed.Conditions {
		if deployed.Conditions[i].Type == appsv1.DeploymentProgressing {
			return &deployed.Conditions[i]
		}
	}
	return nil
}

func ofNodes(count, size int32, what string) string {
	return fmt.Sprintf("%d of %d nodes %s", count, size, what)
}
