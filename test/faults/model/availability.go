package model

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func availabilityRules() []Rule {
	return []Rule{{
		Name: "availability",
		Promise: "While Pods are replaced, at least size minus rollout.maxUnavailable Pods are ready, unless Pods " +
			"fail, the spec changes in the meantime, or other clients interfere.",
		New: func(p *past) func(history.Entry) string {
			return (&availability{past: p, rollouts: map[types.UID]*rollout{}}).check
		},
	}}
}

// replicaSetController is the user name of the ReplicaSet controller. This controller deletes Pods during a rollout.
const replicaSetController = "system:serviceaccount:kube-system:replicaset-controller"

// availability judges each deletion of a ready Pod during a rollout.
type availability struct {
	*past

	rollouts map[types.UID]*rollout // by the uid of the Deployment
}

// rollout is the progress of a Deployment since it was last complete.
type rollout struct {
	least     int64 // how many Pods must be ready at least
	templates int   // how many times the Pod template changed
	disturbed bool  // whether Pods failed or the desired state changed: controllers notice this late
	asked     intent
}

// intent is the desired state of a Deployment, and the process that wrote it.
type intent struct {
	specs   []*cachev1.Memcached // specs from which the operator may have rendered it last; empty if not known
	process history.Process      // process that rendered it
	others  bool                 // whether another client has changed the Deployment since
}

func (a *availability) check(e history.Entry) string {
	if e.State == nil {
		return ""
	}
	switch o := e.State.Object; o.GetKind() {
	case "Deployment":
		if isMain(o) {
			a.note(e)
		}
	case "ReplicaSet":
		if r := a.rollouts[controllerOf(o).UID]; r != nil && e.State.By != nil && !isController(e.State.By.User.Username) {
			r.disturbed = true
		}
	case "Pod":
		return a.pod(e)
	}
	return ""
}

// note updates the rollout after a write of the Deployment.
func (a *availability) note(e history.Entry) {
	o := e.State.Object
	before, r := a.before(o), a.rollouts[o.GetUID()]
	if r == nil {
		r = &rollout{least: math.MaxInt64, disturbed: true} // A new Deployment is not complete yet.
		a.rollouts[o.GetUID()] = r
	}
	asked := a.asked(e, before, r.asked)
	least := asked.least(o)
	if isComplete(o) && a.allPodsReady(o) {
		*r = rollout{least: least, asked: asked}
		return
	}
	if before != nil && !equality.Semantic.DeepEqual(value(before, "spec", "template"), value(o, "spec", "template")) {
		r.templates++
	}
	isSmaller := number(before, "spec", "replicas") > number(o, "spec", "replicas") && asked.allows(o)
	again := r.templates > 1 && (asked.others || mayRollOutAgain(r.asked, asked))
	if before == nil || isSmaller || again || e.State.Type == watch.Deleted {
		r.disturbed = true
	}
	r.least, r.asked = min(r.least, least), asked
}

// asked returns the desired state after a write of the Deployment. For a write by the operator, it is the state that
// the Memcached's spec requests, and not the written Deployment, because the operator must not allow more Pods to be
// missing than the spec does.
func (a *availability) asked(e history.Entry, before *object, asked intent) intent {
	_, by := a.writes(e)
	switch {
	case by != nil && by.FieldManager() == fieldManager && value(bodyOf(by), "spec", "strategy") != nil:
		return intent{specs: a.specsFor(e.State.Object, by), process: history.ProcessOf(by)}
	case by == nil && encoded(value(before, "spec")) != encoded(value(e.State.Object, "spec")):
		asked.others = true
	}
	return asked
}

// allows reports whether a spec or another client may have requested the size of the Deployment.
func (i intent) allows(deployment *object) bool {
	size := number(deployment, "spec", "replicas")
	return i.others || len(i.specs) == 0 ||
		slices.ContainsFunc(i.specs, func(mc *cachev1.Memcached) bool { return sizeOf(mc) == size })
}

// least returns how many Pods must be ready at least.
func (i intent) least(deployment *object) int64 {
	least := int64(math.MaxInt64)
	if i.others || len(i.specs) == 0 {
		least = leastReady(deployment)
	}
	for _, mc := range i.specs {
		rollout := orEmpty(mc.Spec.Rollout)
		surge, unavailable := orDefault(rollout.MaxSurge, 1), orDefault(rollout.MaxUnavailable, 0)
		least = min(least, leastOf(sizeOf(mc), surge, unavailable))
	}
	return least
}

// mayRollOutAgain reports whether the Pod template may have changed, for any reason, since the operator wrote the last
// one. It is true if this is not known.
func mayRollOutAgain(was, is intent) bool {
	known := map[string]bool{}
	for _, mc := range slices.Concat(was.specs, is.specs) {
		if mc.Spec.UpdatePolicy == cachev1.UpdateAutomatic || mc.Spec.TLS != nil || mc.Spec.Auth != nil {
			return true // The operator's defaults, or a Secret, may change.
		}
		known[requested(mc)+podFields(mc)] = true
	}
	return was.others || was.process != is.process || len(was.specs) == 0 || len(known) > 1
}

// allPodsReady reports whether all Pods of a Deployment are ready. It counts the Pods, because the Deployment's status
// may be out of date.
func (a *availability) allPodsReady(deployment *object) bool {
	return int64(len(a.readyPods(deployment.GetName()))) >= number(deployment, "spec", "replicas")
}

func (a *availability) readyPods(cache string) []*object {
	var ready []*object
	for _, pod := range a.podsOf(cache) {
		if isReady(pod) {
			ready = append(ready, pod)
		}
	}
	return ready
}

// leastReady returns how many Pods of a Deployment must be ready at least, according to its strategy.
func leastReady(deployment *object) int64 {
	strategy := decoded[appsv1.DeploymentStrategy](plain(value(deployment, "spec", "strategy"))).RollingUpdate
	if strategy == nil || strategy.MaxSurge == nil || strategy.MaxUnavailable == nil {
		return 0 // Another client chose another strategy.
	}
	return leastOf(number(deployment, "spec", "replicas"), *strategy.MaxSurge, *strategy.MaxUnavailable)
}

// leastOf returns how many Pods must be ready at least, computed in the same way as by the Deployment controller: if
// maxSurge and maxUnavailable are both rounded to 0, one Pod may be missing.
func leastOf(size int64, surge, unavailable intstr.IntOrString) int64 {
	up, err := intstr.GetScaledValueFromIntOrPercent(&surge, int(size), true)
	if err != nil {
		return 0
	}
	down, err := intstr.GetScaledValueFromIntOrPercent(&unavailable, int(size), false)
	if err != nil {
		return 0
	}
	if up == 0 && down == 0 {
		down = 1
	}
	return size - int64(down)
}

func (a *availability) pod(e history.Entry) string {
	pod := e.State.Object
	before := a.before(pod)
	r := cmp.Or(a.rolloutOf(pod), a.rolloutOf(before))
	if before == nil || r == nil {
		return ""
	}
	if controllerOf(before).UID != controllerOf(pod).UID || !maps.Equal(before.GetLabels(), pod.GetLabels()) {
		r.disturbed = true // The ReplicaSet may adopt or release the Pod, and has a wrong number of Pods for a moment.
	}
	if !isReady(before) || isReady(pod) && e.State.Type != watch.Deleted {
		return ""
	}
	byController := e.State.By != nil && e.State.By.User.Username == replicaSetController && e.State.By.Verb == "delete"
	if !byController || r.disturbed {
		r.disturbed = true
		return ""
	}
	cache := pod.GetLabels()["memcached_cr"]
	if left := int64(len(a.readyPods(cache)) - 1); left < r.least {
		return fmt.Sprintf("Pod %s was deleted for a rollout of %s: %d Pods are ready, and at least %d must be",
			pod.GetName(), cache, left, r.least)
	}
	return ""
}

// rolloutOf returns the rollout that a Pod is a part of, or nil.
func (a *availability) rolloutOf(pod *object) *rollout {
	set := a.current[ref{"ReplicaSet", controllerOf(pod).Name}]
	return a.rollouts[controllerOf(set).UID]
}

// isController reports whether this is the user name of one of Kubernetes' own controllers.
func isController(user string) bool {
	return strings.HasPrefix(user, "system:serviceaccount:kube-system:")
}
