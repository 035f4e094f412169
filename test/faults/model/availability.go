package model

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func availabilityRules() []Rule {
	return []Rule{{
		Name: "availability",
		Promise: "While Pods are replaced, at most rollout.maxUnavailable Pods fewer than size are ready, unless Pods " +
			"fail, the spec changes meanwhile, or other clients interfere.",
		New: func(p *past) func(history.Entry) string {
			return (&availability{past: p, rollouts: map[types.UID]*rollout{}}).check
		},
	}}
}

// replicaSetController deletes Pods during a rollout.
const replicaSetController = "system:serviceaccount:kube-system:replicaset-controller"

// availability judges each deletion of a ready Pod during a rollout.
type availability struct {
	*past

	rollouts map[types.UID]*rollout // by the Deployment
}

// rollout is what may become of the Pods of a Deployment since it was complete last.
type rollout struct {
	least     int64 // as few Pods as may be ready
	templates int   // how many Pod templates followed each other
	disturbed bool  // Pods failed, or what is asked for changed meanwhile: the controllers notice that later
}

func (a *availability) check(e history.Entry) string {
	if e.State == nil {
		return ""
	}
	switch o := e.State.Object; o.GetKind() {
	case "Deployment":
		a.note(e)
	case "ReplicaSet":
		if r := a.rollouts[controllerOf(o).UID]; r != nil && e.State.By != nil && !isController(e.State.By.User.Username) {
			r.disturbed = true
		}
	case "Pod":
		return a.pod(e)
	}
	return ""
}

// note follows the Deployment.
func (a *availability) note(e history.Entry) {
	o := e.State.Object
	before, r := a.before(o), a.rollouts[o.GetUID()]
	if r == nil {
		r = &rollout{least: leastReady(o), disturbed: true} // It is not complete yet.
		a.rollouts[o.GetUID()] = r
	}
	if isComplete(o) && a.allPodsReady(o) {
		*r = rollout{least: leastReady(o)}
		return
	}
	r.least = min(r.least, leastReady(o))
	if before != nil && !equality.Semantic.DeepEqual(value(before, "spec", "template"), value(o, "spec", "template")) {
		r.templates++
	}
	isSmaller := number(before, "spec", "replicas") > number(o, "spec", "replicas")
	if before == nil || isSmaller || r.templates > 1 || e.State.Type == watch.Deleted {
		r.disturbed = true
	}
}

// allPodsReady makes sure that the Deployment's status is not out of date.
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

// leastReady returns how many Pods may be ready at least.
func leastReady(deployment *object) int64 {
	size := number(deployment, "spec", "replicas")
	var unavailable intstr.IntOrString
	switch found := value(deployment, "spec", "strategy", "rollingUpdate", "maxUnavailable").(type) {
	case int64:
		unavailable = intstr.FromInt32(int32(min(found, math.MaxInt32)))
	case string:
		unavailable = intstr.FromString(found)
	default:
		return 0 // Another client chose another strategy.
	}
	surge, _ := value(deployment, "spec", "strategy", "rollingUpdate", "maxSurge").(string)
	down, err := intstr.GetScaledValueFromIntOrPercent(&unavailable, int(size), false)
	if err != nil {
		return 0
	}
	if down == 0 && surge != "" { // Both may be rounded to 0, and then one Pod may be missing.
		down = 1
	}
	return size - int64(down)
}

func (a *availability) pod(e history.Entry) string {
	pod := e.State.Object
	before := a.before(pod)
	set := a.current[ref{"ReplicaSet", controllerOf(pod).Name}]
	if before == nil || !isReady(before) || isReady(pod) && e.State.Type != watch.Deleted || set == nil {
		return ""
	}
	r := a.rollouts[controllerOf(set).UID]
	if r == nil {
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

// isController distinguishes Kubernetes' own controllers from other clients.
func isController(user string) bool {
	return strings.HasPrefix(user, "system:serviceaccount:kube-system:")
}
