package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestEvents(t *testing.T) {
	ready := func(reason, message string) cachev1.MemcachedStatus {
		return cachev1.MemcachedStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{{Type: "Ready", Reason: reason, Message: message}}}
	}
	steady := ready(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	deployment := func(verdict apply.Result, fields ...string) apply.Report {
		return apply.Report{{GroupKind: observe.DeploymentKind.GroupKind(), Name: "cache", Result: verdict, Fields: fields}}
	}
	changed := func(by *drift.Author, kind drift.ManagerKind) apply.Report {
		report := deployment(apply.Updated, ".spec.replicas")
		report[0].Drift = []drift.Drift{{Field: ".spec.replicas", Was: "3", Is: "7", Author: by, Kind: kind}}
		return report
	}
	withSlot := func(pod string, state cachev1.SlotState, reason string) cachev1.MemcachedStatus {
		status := *steady.DeepCopy()
		status.Slots = []cachev1.SlotStatus{{Name: "cache-0", Pod: pod, State: state, Reason: reason}}
		return status
	}
	withSlots := func(count int) cachev1.MemcachedStatus {
		status := *steady.DeepCopy()
		for number := range count {
			status.Slots = append(status.Slots, cachev1.SlotStatus{Name: fmt.Sprintf("cache-%d", number), State: cachev1.SlotServing})
		}
		return status
	}
	suspended := func(status cachev1.MemcachedStatus) cachev1.MemcachedStatus {
		status.Conditions = append(slices.Clone(status.Conditions), metav1.Condition{
			Type: cachev1.ConditionSuspended, Status: metav1.ConditionTrue, Reason: cachev1.ReasonSuspended,
			Message: "The operator writes only the status while spec.suspend is true",
		})
		return status
	}
	tests := map[string]struct {
		report      apply.Report
		existing    *appsv1.Deployment
		updating    bool
		why         string // why the operator chose another memory
		before, now cachev1.MemcachedStatus
		want        []string
	}{
		"nothing happened": {report: deployment(apply.Unchanged), before: steady, now: steady},
		"an object was created": {
			report: deployment(apply.Created), before: steady, now: steady,
			want: []string{`Normal Created: Deployment "cache" created`},
		},
		"the objects of a new Memcached were created": {
			before: cachev1.MemcachedStatus{}, now: ready(cachev1.ReasonRollingOut, "0 of 3 Pods ready"),
			report: slices.Concat(deployment(apply.Created), apply.Report{
				{GroupKind: schema.GroupKind{Kind: "Service"}, Name: "cache", Result: apply.Unchanged},
				{GroupKind: schema.GroupKind{Kind: "NetworkPolicy"}, Name: "cache", Result: apply.Created},
				{GroupKind: schema.GroupKind{Kind: "PodDisruptionBudget"}, Name: "cache", Result: apply.Created},
			}),
			want: []string{`Normal Created: Deployment, NetworkPolicy and PodDisruptionBudget "cache" created`},
		},
		"deleted objects were created again": {
			report: slices.Concat(deployment(apply.Created), apply.Report{
				{GroupKind: schema.GroupKind{Kind: "Service"}, Name: "cache", Result: apply.Created},
			}),
			before: steady, now: steady,
			want: []string{`Normal Created: Deployment "cache" created`, `Normal Created: Service "cache" created`},
		},
		"the size changed": {
			report: deployment(apply.Updated, ".spec.replicas"), before: steady, now: steady,
			want: []string{"Normal Scaled: Scaled to 5 Pods"},
		},
		"a rollout was stopped": {
			report: deployment(apply.Paused), before: steady, now: steady,
			want: []string{`Normal RolloutPaused: Deployment "cache" paused during its rollout, because spec.suspend is true`},
		},
		"another field changed": {
			report: deployment(apply.Updated, ".spec.template.x"), before: steady, now: steady,
			want: []string{`Normal Updated: Deployment "cache" updated: .spec.template.x`},
		},
		"a field is no longer wanted": {
			report: deployment(apply.Updated), before: steady, now: steady,
			want: []string{`Normal Updated: Deployment "cache" updated: a field that is no longer set, or only an annotation of the operator`},
		},
		"another client changed an owned field": {
			report: changed(&drift.Author{Manager: "kubectl", Operation: "Update", Subresource: "scale"}, drift.Manual),
			before: steady, now: steady,
			want: []string{`Warning DriftCorrected: Deployment "cache": drift reverted: .spec.replicas 3 -> 7 by ` +
				`"kubectl" (Update of scale, no time recorded). Fix: change spec.size of the Memcached instead of the Deployment`},
		},
		"an unrecorded client changed an owned field": {
			report: changed(nil, drift.Unknown), before: steady, now: steady,
			want: []string{`Warning DriftCorrected: Deployment "cache": drift reverted: .spec.replicas 3 -> 7 by ` +
				`an unrecorded client. Fix: find the client in the audit log of the API server`},
		},
		"an object was adopted": {
			report: deployment(apply.Adopted), before: steady, now: steady,
			want: []string{`Normal Adopted: Deployment "cache" adopted: it had no owner`},
		},
		"an object was deleted": {
			report: deployment(apply.Deleted), before: steady, now: steady,
			want: []string{`Normal Deleted: Deployment "cache" deleted: the spec no longer requests it`},
		},
		"all Pods became ready": {
			before: ready(cachev1.ReasonRollingOut, "2 of 3 Pods ready"), now: steady,
			want: []string{"Normal AllPodsReady: 3 of 3 Pods ready"},
		},
		"a rollout continues": {before: steady, now: ready(cachev1.ReasonRollingOut, "1 of 3 Pods ready")},
		"an unowned object has the name": {
			before: cachev1.MemcachedStatus{}, now: ready(cachev1.ReasonOwnershipConflict, "not owned"),
			want: []string{"Warning OwnershipConflict: not owned"},
		},
		"an automatic update fails": {
			updating: true, before: ready(cachev1.ReasonRollingOut, "2 of 3 Pods ready"), now: ready(cachev1.ReasonInvalidSpec, "no"),
			want: []string{"Warning InvalidSpec: no", "Warning UpdatesStopped: The cache is not Ready after its update. " +
				"No other cache with updatePolicy Automatic is updated until this one is Ready, suspended or deleted, or its " +
				"updatePolicy is OnSpecChange"},
		},
		"a failed update is still there": {
			updating: true, before: ready(cachev1.ReasonInvalidSpec, "no"), now: ready(cachev1.ReasonInvalidSpec, "no"),
		},
		"an automatic update continues": {
			updating: true, before: ready(cachev1.ReasonRollingOut, "2 of 3"), now: ready(cachev1.ReasonRollingOut, "1 of 3"),
		},
		"an automatic update hands slots over": {
			updating: true, before: ready(cachev1.ReasonRollingOut, "1 of 3"), now: ready(cachev1.ReasonHandingOver, "1 of 3"),
		},
		"the operator chooses another memory": {
			before: withMemory("1Gi"), now: withMemory("1536Mi"), why: "Items are evicted",
			want: []string{"Normal MemoryChosen: The memory of each Pod changes from 1Gi to 1536Mi. Items are evicted"},
		},
		"the use of the cache deviates from its usual day": {
			now:  deviating(cachev1.ReasonHitRatioFell, cachev1.ReasonLatencyRose),
			want: []string{"Warning HitRatioFell: what HitRatioFell means", "Warning LatencyRose: what LatencyRose means"},
		},
		"another deviation begins": {
			before: deviating(cachev1.ReasonHitRatioFell), now: deviating(cachev1.ReasonHitRatioFell, cachev1.ReasonLatencyRose),
			want: []string{"Warning LatencyRose: what LatencyRose means"},
		},
		"one of two deviations ends": {
			before: deviating(cachev1.ReasonHitRatioFell, cachev1.ReasonLatencyRose), now: deviating(cachev1.ReasonHitRatioFell),
		},
		"all deviations end": {
			before: deviating(cachev1.ReasonHitRatioFell), now: usualAgain(),
			want: []string{"Normal AsUsual: The cache is used as on a usual day"},
		},
		"the operator chooses another number of Pods": {
			before: withPods(3), now: withPods(4), why: "Items are evicted",
			want: []string{"Normal SizeChosen: The number of Pods changes from 3 to 4. Items are evicted"},
		},
		"the operator chooses the number of Pods from now on": {
			before: withSlots(3), now: withPods(2),
			want: []string{"Normal SizeChosen: The number of Pods changes from 3 to 2. spec.autoscaling.size chooses it from now on"},
		},
		"the operator chooses the number of Pods from now on, as it is": {before: withSlots(3), now: withPods(3)},
		"the number of Pods stays":                                      {before: withPods(3), now: withPods(3)},
		"the memory stays":                                              {before: withMemory("1Gi"), now: withMemory("1Gi")},
		"a slot lost its keys": {
			before: withSlot("cache-a", cachev1.SlotCopying, ""), now: withSlot("cache-b", cachev1.SlotCold, "HandoffTimedOut"),
			want: []string{"Warning SlotStartedCold: Slot cache-0: Pod cache-b started empty (HandoffTimedOut)"},
		},
		"slots are removed, and nobody knows where clients look for their keys": {
			before: withSlots(3), now: withSlots(2),
			want: []string{"Warning SlotsRemoved: 1 of 3 slots removed: their keys are lost, about 33 % of the keys of the cache. If spec.slots.clientHash is set, the operator first copies the keys of slots that it removes"},
		},
		"slots are added":      {before: withSlots(2), now: withSlots(3)},
		"slots are turned off": {before: withSlots(2), now: withSlots(0)},
		"a slot lost its keys before": {
			before: withSlot("cache-b", cachev1.SlotCold, "HandoffTimedOut"), now: withSlot("cache-b", cachev1.SlotCold, "HandoffTimedOut"),
		},
		"a slot moved with its keys": {
			before: withSlot("cache-a", cachev1.SlotCopying, ""), now: withSlot("cache-b", cachev1.SlotServing, ""),
			want: []string{"Normal SlotHandedOver: Slot cache-0 handed over from Pod cache-a to Pod cache-b in 12s"},
		},
		"slots are being handed over": {before: steady, now: ready(cachev1.ReasonHandingOver, "2 of 3 Pods ready")},
		"a suspension began": {
			before: steady, now: suspended(steady),
			want: []string{"Normal Suspended: The operator writes only the status while spec.suspend is true"},
		},
		"a suspension continues": {before: suspended(steady), now: suspended(steady)},
		"a suspension without Pods began": {
			before: cachev1.MemcachedStatus{}, now: suspended(ready(cachev1.ReasonSuspended, "No Deployment exists")),
			want: []string{"Warning Suspended: No Deployment exists"},
		},
		"a suspension ended": {
			before: suspended(steady), now: steady,
			want: []string{"Normal Resumed: The operator applies the spec again, because spec.suspend is false"},
		},
		"a rollout was resumed": {
			report: deployment(apply.Unchanged), existing: pausedDeployment(), before: steady, now: steady,
			want: []string{`Normal RolloutResumed: Deployment "cache" resumed its rollout, because spec.suspend is false`},
		},
		"a rollout stays paused": {existing: pausedDeployment(), before: steady, now: steady},
		"a rollout could not be resumed": {
			report: deployment(apply.Failed), existing: pausedDeployment(), before: steady, now: steady,
		},
		"the unowned object still exists": {
			before: ready(cachev1.ReasonOwnershipConflict, "not owned"), now: ready(cachev1.ReasonOwnershipConflict, "not owned"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := &cachev1.Memcached{Status: tc.before}
			c := &reconciliation{memcached: mc, report: tc.report, updating: tc.updating, status: tc.now}
			if tc.why != "" {
				c.outcome = plan.Ready{Plan: plan.Plan{Autoscaling: because(tc.why)}}
			}
			c.input.Plan.Size = 5
			if tc.existing != nil {
				c.snapshot = snapshotOf(tc.existing)
			}
			var got []string
			if len(tc.now.Slots) > 0 {
				c.outcome = plan.Ready{Plan: plan.Plan{Slots: &plan.Slots{Decision: slots.Decision{Slots: []slots.Status{
					{Name: "cache-0", Pod: tc.now.Slots[0].Pod, Took: 12 * time.Second},
				}}}}}
			}
			for _, e := range eventsOf(c) {
				got = append(got, e.eventType+" "+e.reason+": "+e.note)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// withMemory returns a status with this amount of memory, which the operator chose.
func withMemory(current string) cachev1.MemcachedStatus {
	memory := &cachev1.MemoryAutoscalingStatus{Current: new(resource.MustParse(current))}
	return cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{Memory: memory}}
}

// because returns decisions about the memory and the number of Pods that were made for this reason.
func because(why string) plan.Autoscaling {
	return plan.Autoscaling{Memory: &autoscale.State{Why: why}, Size: &autoscale.State{Why: why}}
}

// withPods returns a status with this number of Pods, which the operator chose.
func withPods(current int32) cachev1.MemcachedStatus {
	size := &cachev1.SizeAutoscalingStatus{Current: &current}
	return cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{Size: size}}
}

// deviating returns the status of a cache whose use deviates from its usual day, for these reasons.
func deviating(reasons ...string) cachev1.MemcachedStatus {
	day := &cachev1.UsualDay{}
	for _, reason := range reasons {
		day.Deviations = append(day.Deviations, cachev1.Deviation{Reason: reason, Message: "what " + reason + " means"})
	}
	return cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{UsualDay: day}}
}

// usualAgain returns the status of a cache whose use no longer deviates from its usual day.
func usualAgain() cachev1.MemcachedStatus {
	now := deviating()
	now.Conditions = []metav1.Condition{{
		Type: cachev1.ConditionAsUsual, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAsUsual,
		Message: "The cache is used as on a usual day",
	}}
	return now
}
