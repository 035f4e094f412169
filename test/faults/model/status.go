package model

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func statusRules() []Rule {
	return []Rule{{
		Name:    "observedGeneration",
		Promise: "status.observedGeneration is always the generation that the status describes.",
		New:     observedGeneration,
	}, {
		Name: "conditions",
		Promise: "The conditions follow kstatus: Ready is always set. Reconciling and Stalled are only set while they are " +
			"True, never both, and never while Ready is True. status.nodes has only names of the Memcached's Pods.",
		New: conditions,
	}, {
		Name: "ready",
		Promise: "Ready is True only if as many Pods as the spec requests were ready at a time, " +
			"with the current Pod template.",
		New: func(p *past) func(history.Entry) string {
			r := readiness{
				past: p, ready: map[string]map[string]bool{}, peak: map[string]int{}, asked: map[string]*templateIntent{},
			}
			return r.check
		},
	}}
}

func observedGeneration(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, _ := p.writesStatus(e)
		if o == nil {
			return ""
		}
		if observed := number(o, "status", "observedGeneration"); observed != o.GetGeneration() {
			return fmt.Sprintf("%s: status.observedGeneration is %d, and the generation is %d",
				o.GetName(), observed, o.GetGeneration())
		}
		return ""
	}
}

// stateOf says which condition is True, for each reason of the condition Ready.
var stateOf = map[string]string{
	cachev1.ReasonAllPodsReady: cachev1.ConditionReady, cachev1.ReasonScaledToZero: cachev1.ConditionReady,

	cachev1.ReasonRollingOut: cachev1.ConditionReconciling, cachev1.ReasonPodsNotReady: cachev1.ConditionReconciling,
	cachev1.ReasonHandingOver:    cachev1.ConditionReconciling,
	cachev1.ReasonResizing:       cachev1.ConditionReconciling,
	cachev1.ReasonSecretNotFound: cachev1.ConditionReconciling, cachev1.ReasonApplyFailed: cachev1.ConditionReconciling,

	cachev1.ReasonProgressDeadlineExceeded: cachev1.ConditionStalled, cachev1.ReasonInvalidSpec: cachev1.ConditionStalled,
	cachev1.ReasonKeysMoving:    cachev1.ConditionStalled,
	cachev1.ReasonInvalidSecret: cachev1.ConditionStalled, cachev1.ReasonCertificateExpired: cachev1.ConditionStalled,
	cachev1.ReasonOwnershipConflict: cachev1.ConditionStalled, cachev1.ReasonSuspended: cachev1.ConditionStalled,
	cachev1.ReasonFieldManagerConflict:   cachev1.ConditionStalled,
	cachev1.ReasonCertificateUnavailable: cachev1.ConditionStalled,
}

func conditions(p *past) func(history.Entry) string {
	pods := map[string][]types.UID{} // by name
	return func(e history.Entry) string {
		if e.State != nil && e.State.Object.GetKind() == "Pod" && p.before(e.State.Object) == nil {
			pods[e.State.Object.GetName()] = append(pods[e.State.Object.GetName()], e.State.Object.GetUID())
		}
		o, by := p.writesStatus(e)
		if o == nil {
			return ""
		}
		mc := p.memcached(o)
		if wrong := inconsistent(mc); wrong != "" {
			return fmt.Sprintf("the status of %s: %s", mc.Name, wrong)
		}
		for _, node := range mc.Status.Nodes {
			if p.mayBeKept(node, o) {
				continue
			}
			if !slices.ContainsFunc(pods[node], func(uid types.UID) bool { return p.wasPodOf(mc, uid, history.ProcessOf(by)) }) {
				return fmt.Sprintf("the status of %s: nodes has %q, which is no Pod of it", mc.Name, node)
			}
		}
		return ""
	}
}

// mayBeKept reports whether a Pod's name may be kept from an earlier status, because the operator could not read the
// Pods.
func (p *past) mayBeKept(node string, o *object) bool {
	before := p.before(o)
	return before != nil && conditionOf(p.memcached(o), cachev1.ConditionReady).Reason == cachev1.ReasonApplyFailed &&
		slices.Contains(p.memcached(before).Status.Nodes, node)
}

// wasPodOf reports whether a process may have believed that a Pod belonged to the Memcached, and was not terminating.
func (p *past) wasPodOf(mc *cachev1.Memcached, uid types.UID, process history.Process) bool {
	return slices.ContainsFunc(p.seen(process, uid), func(pod *object) bool {
		return pod.GetLabels()["memcached_cr"] == mc.Name && controllerOf(pod).Kind == "ReplicaSet" &&
			pod.GetDeletionTimestamp() == nil
	})
}

// inconsistent returns how the conditions contradict each other.
func inconsistent(mc *cachev1.Memcached) string {
	ready := conditionOf(mc, cachev1.ConditionReady)
	is := stateOf[ready.Reason]
	switch {
	case is == "":
		return fmt.Sprintf("the reason of Ready is %q, which is not documented", ready.Reason)
	case conditionOf(mc, cachev1.ConditionSuspended).Type != "" && !mc.Spec.Suspend:
		return "Suspended is set, and spec.suspend is not"
	case !slices.IsSorted(mc.Status.Nodes):
		return fmt.Sprintf("nodes are not sorted: %v", mc.Status.Nodes)
	case ready.ObservedGeneration != mc.Generation:
		return fmt.Sprintf("the condition Ready has observedGeneration %d, "+
			"and the generation is %d", ready.ObservedGeneration, mc.Generation)
	}
	for _, condition := range []string{cachev1.ConditionReady, cachev1.ConditionReconciling, cachev1.ConditionStalled} {
		found := conditionOf(mc, condition)
		isSet := found.Type != "" && (condition != cachev1.ConditionReady || found.Status != metav1.ConditionFalse)
		switch {
		case isSet != (condition == is):
			return fmt.Sprintf("%s is %q with the reason %s", condition, found.Status, ready.Reason)
		case isSet && (found.Status != metav1.ConditionTrue || found.Reason != ready.Reason):
			return fmt.Sprintf("%s is %q with the reason %q, and that of Ready is %q",
				condition, found.Status, found.Reason, ready.Reason)
		}
	}
	return ""
}
