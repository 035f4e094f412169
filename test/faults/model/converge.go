package model

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func convergeRules() []Rule {
	return []Rule{{
		Name: "converges",
		Promise: "Once the faults are over, the status describes the current generation, and agrees with the Pods and the " +
			"Secrets, and each write that failed was repeated. With a valid spec, each Memcached becomes Ready.",
		New: converges,
	}, {
		Name: "desired state",
		Promise: "Once the faults are over, a Ready Memcached has the objects that its spec requests, and owns them, " +
			"and no field that the operator applied has another value.",
		New: func(p *past) func(history.Entry) string {
			return (&desired{past: p, last: map[ref]lastApply{}}).check
		},
	}, {
		Name:    "the same spec gives the same objects",
		Promise: "Two Memcacheds with the same spec have the same objects, whatever happened before.",
		New:     sameObjects,
	}}
}

// quiet is how long the objects of a cache must be unchanged before a phase. Only then must the cache's status agree
// with these objects.
const quiet = time.Second

func converges(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if e.Step != history.PhaseAtRest && e.Step != history.PhaseReady {
			return ""
		}
		for _, o := range p.memcacheds() {
			if wrong := p.isWrong(p.memcached(o), e); wrong != "" {
				return o.GetName() + ": " + wrong
			}
		}
		return ""
	}
}

// lastStep returns when the last change or fault began.
func (p *past) lastStep() time.Time {
	for _, e := range slices.Backward(p.entries) {
		if e.Step != "" && !isPhase(e.Step) {
			return e.Time
		}
	}
	return time.Time{}
}

// isWrong returns what is wrong with a status after a phase.
func (p *past) isWrong(mc *cachev1.Memcached, e history.Entry) string {
	wrong := p.disagrees(mc, e)
	if wrong == "" && e.Step == history.PhaseReady && !isTrue(mc, cachev1.ConditionReady) {
		wrong = p.notDone(mc)
	}
	if wrong != "" && p.mayKeepStatus(mc) {
		return ""
	}
	return wrong
}

// disagrees returns how the status of a Memcached contradicts its objects.
func (p *past) disagrees(mc *cachev1.Memcached, e history.Entry) string {
	ready := conditionOf(mc, cachev1.ConditionReady)
	if mc.DeletionTimestamp != nil {
		return ""
	}
	if mc.Status.ObservedGeneration != mc.Generation {
		return fmt.Sprintf("status.observedGeneration is %d, and the generation is %d",
			mc.Status.ObservedGeneration, mc.Generation)
	}
	deployment := p.current[ref{"Deployment", mc.Name}]
	isOwned := deployment != nil && controllerOf(deployment).UID == mc.UID
	switch wrong := p.wrongOfSecrets(mc); {
	case isOwned && !p.isQuiet(mc, e):
		return ""
	case wrong != "":
		return wrong
	case ready.Reason == cachev1.ReasonApplyFailed && !p.isRefused(mc):
		return "a write failed, and was not repeated: " + ready.Message
	case isTrue(mc, cachev1.ConditionReady) && !isOwned:
		return "it is Ready, and owns no Deployment"
	case isTrue(mc, cachev1.ConditionReady):
		return p.notReady(mc, deployment)
	case isOwned && isRollingOut(ready.Reason) && isComplete(deployment) && !p.isTerminating(mc):
		return fmt.Sprintf("the reason of the condition Ready is %s (%s), "+
			"although the Deployment is complete", ready.Reason, ready.Message)
	}
	return ""
}

// isRefused reports whether the API server has refused a write for a cache since the faults were over. The API server
// does so if the cluster does not have something that the spec requires.
func (p *past) isRefused(mc *cachev1.Memcached) bool {
	return slices.ContainsFunc(p.entries[p.over:], func(e history.Entry) bool {
		q := e.Request
		return q != nil && q.User.Username == p.operator && strings.HasPrefix(q.ObjectRef.Name, mc.Name) &&
			q.Response.Code >= http.StatusBadRequest
	})
}

// isRollingOut reports whether a reason says that Pods are being added, replaced or removed.
func isRollingOut(reason string) bool {
	return reason == cachev1.ReasonRollingOut || reason == cachev1.ReasonHandingOver
}

// isTerminating reports whether an object of a cache is still terminating, so that it can't be created again yet.
func (p *past) isTerminating(mc *cachev1.Memcached) bool {
	return slices.ContainsFunc(p.managedOf(mc.Name), func(o *object) bool { return o.GetDeletionTimestamp() != nil })
}

// isQuiet reports whether the objects and the Pods of a cache have not changed for a while.
func (p *past) isQuiet(mc *cachev1.Memcached, e history.Entry) bool {
	if slices.ContainsFunc(p.managedOf(mc.Name), func(o *object) bool { return p.since(o, e) < quiet }) {
		return false
	}
	return !slices.ContainsFunc(p.podsOf(mc.Name), func(pod *object) bool { return p.since(pod, e) < quiet })
}

func (p *past) podsOf(cache string) []*object {
	return slices.DeleteFunc(p.existing("Pod"), func(pod *object) bool {
		return pod.GetLabels()["memcached_cr"] != cache || controllerOf(pod).Kind != "ReplicaSet"
	})
}

// notReady returns why a cache is not ready, although its status reports Ready.
func (p *past) notReady(mc *cachev1.Memcached, deployment *object) string {
	var ready, all []string
	for _, pod := range p.podsOf(mc.Name) {
		if set := p.current[ref{"ReplicaSet", controllerOf(pod).Name}]; controllerOf(set).UID != deployment.GetUID() {
			return "" // The Pod is left over from an earlier Deployment, and not garbage-collected yet.
		}
		if pod.GetDeletionTimestamp() != nil {
			continue
		}
		all = append(all, pod.GetName())
		if isReady(pod) {
			ready = append(ready, pod.GetName())
		}
	}
	wanted := number(deployment, "spec", "replicas")
	switch {
	case !mc.Spec.Suspend && wanted != sizeOf(mc):
		return fmt.Sprintf("it is Ready, and the Deployment has %d replicas, not %d", wanted, sizeOf(mc))
	case int64(len(ready)) != wanted:
		return fmt.Sprintf("it is Ready, and %d of %d Pods are ready: %s", len(ready), wanted, strings.Join(ready, ", "))
	case len(all) < 20 && !slices.Equal(ready, mc.Status.Nodes):
		return fmt.Sprintf("status.nodes are %v, and the Pods are %v", mc.Status.Nodes, ready)
	}
	return ""
}

// isComplete reports whether the Deployment controller has nothing left to do.
func isComplete(deployment *object) bool {
	return allReady(deployment, number(deployment, "spec", "replicas")) &&
		number(deployment, "status", "observedGeneration") == deployment.GetGeneration()
}

// allReady reports whether the Deployment has this number of Pods according to its status, all up to date and ready.
func allReady(deployment *object, size int64) bool {
	for _, count := range []string{"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"} {
		if number(deployment, "status", count) != size {
			return false
		}
	}
	return number(deployment, "status", "observedGeneration") >= deployment.GetGeneration()
}

// notDone returns why a Memcached with a valid spec is not Ready. It returns nothing if a conflict lasts.
func (p *past) notDone(mc *cachev1.Memcached) string {
	ready := conditionOf(mc, cachev1.ConditionReady)
	if ready.Reason == cachev1.ReasonFieldManagerConflict && p.mayPause(mc) {
		return ""
	}
	if ready.Reason == cachev1.ReasonOwnershipConflict && p.isInTheWay(mc) || p.lostManagedFields(mc) {
		return ""
	}
	return fmt.Sprintf("it has a valid spec, and is not Ready: %s: %s", ready.Reason, ready.Message)
}

// isInTheWay reports whether an object has the name of a managed object, and the operator may not adopt it. An example
// is an object from which another client has removed the managed fields that showed that the operator had applied it.
func (p *past) isInTheWay(mc *cachev1.Memcached) bool {
	for _, o := range p.managedOf(mc.Name) {
		if controllerOf(o).UID != mc.UID && (len(o.GetOwnerReferences()) > 0 || !wasApplied(o)) &&
			o.GetAnnotations()[cachev1.AnnotationAdoptBy] != mc.Name {
			return true
		}
	}
	return false
}

// lostManagedFields reports whether another client removed the managed fields of the Deployment. Then a field that the
// operator no longer sets stays, because nothing shows that the operator had set it.
func (p *past) lostManagedFields(mc *cachev1.Memcached) bool {
	deployment := p.current[ref{"Deployment", mc.Name}]
	if deployment == nil {
		return false
	}
	had := false
	for _, m := range p.objects[deployment.GetUID()] {
		has := slices.ContainsFunc(m.GetManagedFields(), isOperators)
		if had && !has {
			return true
		}
		had = has
	}
	return false
}

// mayPause reports whether the operator may still pause because of a conflict during the faults. The operator may if it
// was not restarted since then.
func (p *past) mayPause(mc *cachev1.Memcached) bool {
	states := p.objects[mc.UID]
	for _, state := range slices.Backward(states) {
		if by := p.byOperator(p.entries[state.at]); by != nil {
			return history.ProcessOf(by).Started().Before(p.lastStep())
		}
	}
	return false
}

func sameObjects(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if e.Step != history.PhaseReady {
			return ""
		}
		done := p.upToDate()
		for i := 1; i < len(done); i++ {
			if encoded(done[i].Spec) != encoded(done[0].Spec) {
				continue
			}
			if found := p.compareAll(done[0], done[i]); found != "" {
				return found
			}
		}
		return ""
	}
}

// upToDate returns the Memcacheds that are Ready and have the operator's current defaults. It omits those whose status
// may be outdated, because the operator may have stopped writing it (mayKeepStatus).
func (p *past) upToDate() []*cachev1.Memcached {
	var found []*cachev1.Memcached
	for _, o := range p.memcacheds() {
		mc := p.memcached(o)
		if isTrue(mc, cachev1.ConditionReady) && conditionOf(mc, cachev1.ConditionUpdatePending).Status == "False" &&
			!p.mayKeepStatus(mc) {
			found = append(found, mc)
		}
	}
	return found
}

func (p *past) compareAll(a, b *cachev1.Memcached) string {
	for _, kind := range slices.Sorted(maps.Keys(managed)) {
		if found := p.compare(kind, a, b); found != "" {
			return fmt.Sprintf("%s %s and %s differ: %s", kind, a.Name, b.Name, found)
		}
	}
	return ""
}

// compare returns how two caches' objects of this kind differ, in the fields that the operator owns, except names.
func (p *past) compare(kind string, a, b *cachev1.Memcached) string {
	one, other := p.current[ref{kind, a.Name}], p.current[ref{kind, b.Name}]
	if one == nil || other == nil {
		if one == other {
			return ""
		}
		return "one of them does not exist"
	}
	fields := ownFields(one).Union(ownFields(other)).Leaves()
	found := differences("", valuesOf(one, fields), valuesOf(other, fields))
	if keepsPods(a) { // The memory with which Pods start may be from an earlier spec.
		found = slices.DeleteFunc(found, func(difference string) bool {
			return strings.Contains(difference, "containers[memcached].args") ||
				strings.Contains(difference, "containers[memcached].resources")
		})
	}
	return strings.Join(found[:min(3, len(found))], "; ")
}
