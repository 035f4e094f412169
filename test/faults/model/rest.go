package model

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func restRules() []Rule {
	return []Rule{{
		Name: "suspended",
		Promise: "While spec.suspend is true, the operator writes only the status. It pauses a rollout in progress " +
			"before it sets the condition Suspended.",
		New: suspended,
	}, {
		Name: "no requests at rest",
		Promise: "If nothing changes, the operator sends no requests. It only repeats writes that failed, or that " +
			"another client keeps reverting.",
		New: func(p *past) func(history.Entry) string {
			r := rest{past: p, woken: map[string]bool{}, failed: map[string]map[string]bool{}}
			return r.check
		},
	}, {
		Name: "no hot loop",
		Promise: "The operator does not repeat a request endlessly: it backs off after errors, and pauses for at least 15 " +
			"seconds after three writes to an object whose changes another client reverts.",
		New: func(p *past) func(history.Entry) string {
			return (&loops{past: p, sent: map[sending][]time.Time{}, applied: map[applying]applications{}}).check
		},
	}}
}

func suspended(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if mc, by := p.writesStatus(e); mc != nil {
			return p.notPaused(mc, by)
		}
		o, by := p.writes(e)
		if o == nil {
			return ""
		}
		specs := p.specsFor(o, by)
		if len(specs) == 0 || slices.ContainsFunc(specs, func(mc *cachev1.Memcached) bool { return !mc.Spec.Suspend }) {
			return ""
		}
		paused := func(mc *cachev1.Memcached) bool { return isTrue(mc, cachev1.ConditionSuspended) }
		switch {
		case by.FieldManager() != pauseManager:
			return fmt.Sprintf("the operator wrote %s %s, although spec.suspend is true", o.GetKind(), o.GetName())
		case !slices.ContainsFunc(specs, func(mc *cachev1.Memcached) bool { return !paused(mc) }):
			return fmt.Sprintf("the operator paused %s %s after it had reported Suspended", o.GetKind(), o.GetName())
		}
		return ""
	}
}

// notPaused returns a violation if a status reports Suspended for the first time, and the rollout continues.
func (p *past) notPaused(o *object, by *audit.Request) string {
	before := p.before(o)
	if before == nil || !isTrue(p.memcached(o), cachev1.ConditionSuspended) ||
		isTrue(p.memcached(before), cachev1.ConditionSuspended) {
		return ""
	}
	deployment := p.current[ref{"Deployment", o.GetName()}]
	if deployment == nil {
		return ""
	}
	for _, seen := range p.seen(history.ProcessOf(by), deployment.GetUID()) {
		if !rollsOut(seen) || isPaused(seen) || controllerOf(seen).UID != o.GetUID() || seen.GetDeletionTimestamp() != nil {
			return ""
		}
	}
	return fmt.Sprintf("the condition Suspended of %s is True, "+
		"but the rollout of its Deployment is not paused", o.GetName())
}

// rollsOut reports whether Pods of an earlier template may exist.
func rollsOut(deployment *object) bool {
	return number(deployment, "status", "observedGeneration") < deployment.GetGeneration() ||
		number(deployment, "status", "updatedReplicas") < number(deployment, "status", "replicas")
}

// isPaused reports whether the operator paused a Deployment.
func isPaused(deployment *object) bool {
	return slices.ContainsFunc(deployment.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == pauseManager
	})
}
