package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// rolling simulates the rollout of a cache with slots, and counts the writes of its status, and their bytes.
type rolling struct {
	in         status.Input
	deployment *appsv1.Deployment
	statuses   *statuses
	due        time.Time // when a status that had to wait is written; zero if none waits

	writes, bytes int
}

const (
	manySlots = 1000

	// copyTime is how long the copy of the keys of a slot takes.
	copyTime = 15 * time.Second
)

func newRolling() *rolling {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", OwnerReferences: []metav1.OwnerReference{{UID: "uid", Controller: new(true)}}},
		Status: appsv1.DeploymentStatus{
			Replicas: manySlots, UpdatedReplicas: manySlots, ReadyReplicas: manySlots, AvailableReplicas: manySlots,
		},
	}
	kind := observe.DeploymentKind.GroupKind()
	r := &rolling{deployment: deployment, statuses: newStatuses(), in: status.Input{
		Memcached: &cachev1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team", UID: "uid", Generation: 1, ResourceVersion: "1234567"},
			Spec:       cachev1.MemcachedSpec{Size: new(int32(manySlots))},
		},
		Plan:     plan.Plan{Pod: plan.Pod{Name: "shop"}, Namespace: "team", Size: manySlots, Slots: &plan.Slots{}},
		Snapshot: observe.Snapshot{Name: "shop", Objects: map[observe.Key]client.Object{{GroupKind: kind, Name: "shop"}: deployment}},
		Report:   apply.Report{{GroupKind: kind, Name: "shop", Result: apply.Unchanged}},
		Now:      time.Unix(1_700_000_000, 0),
	}}
	r.statuses.now = func() time.Time { return r.in.Now }
	for number := range manySlots {
		name := fmt.Sprintf("shop-%d", number)
		r.in.Plan.Slots.Slots = append(r.in.Plan.Slots.Slots, slots.Status{
			Name: name, Address: name + ".shop-slots.team.svc:11211", Pod: podOf(number, 1),
			State: instruction.StateServing, Since: r.in.Now,
		})
		r.add(podOf(number, 1))
	}
	return r
}

// podOf returns the name of the Pod of a slot, like the names of a ReplicaSet's Pods, whose order is not the order of
// the slots.
func podOf(slot, generation int) string {
	return fmt.Sprintf("shop-%08x-%05x", generation*0x1e240f7, slot*7919%0xfffff)
}

func (r *rolling) add(name string) {
	r.in.Snapshot.Pods = append(r.in.Snapshot.Pods, observe.Pod{Name: name, Ready: true})
	slices.SortFunc(r.in.Snapshot.Pods, func(a, b observe.Pod) int { return strings.Compare(a.Name, b.Name) })
}

func (r *rolling) remove(name string) {
	r.in.Snapshot.Pods = slices.DeleteFunc(r.in.Snapshot.Pods, func(pod observe.Pod) bool { return pod.Name == name })
}

// pass lets time pass, and writes statuses that had to wait when they are due.
func (r *rolling) pass(t *testing.T, time time.Duration) {
	t.Helper()
	until := r.in.Now.Add(time)
	for !r.due.IsZero() && r.due.Before(until) {
		r.in.Now = r.due
		r.reconcile(t)
	}
	r.in.Now = until
	r.reconcile(t)
}

// reconcile writes the status as writeStatus does.
func (r *rolling) reconcile(t *testing.T) {
	t.Helper()
	mc := r.in.Memcached
	now := status.Evaluate(r.in)
	r.due = time.Time{}
	if !status.Differs(mc.Status, now) {
		return
	}
	if wait := r.statuses.wait(mc, now); wait > 0 {
		r.due = r.in.Now.Add(wait)
		return
	}
	patches, err := statusPatches(mc, now)
	if err != nil {
		t.Fatal(err)
	}
	body, err := patches[0].Data(mc)
	if err != nil {
		t.Fatal(err)
	}
	r.writes, r.bytes = r.writes+1, r.bytes+len(body)
	patched := mc.DeepCopy()
	patched.Status, patched.ResourceVersion = now, fmt.Sprint(1_000_000+r.writes)
	r.statuses.note(mc, patched)
	r.in.Memcached = patched
}

// progress returns the same text as slots.Decision.
func progress(left, copying int) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d slots are still to be handed over, %d being copied", left, manySlots, copying)
}

// handOver replaces the Pods of the slots in this range at the same time.
func (r *rolling) handOver(t *testing.T, from, to int) {
	t.Helper()
	deployed, each := &r.deployment.Status, 100*time.Millisecond
	of := func(slot int) *slots.Status { return &r.in.Plan.Slots.Slots[slot] }
	for slot := from; slot < to; slot++ {
		r.add(podOf(slot, 2))
		deployed.Replicas, deployed.UpdatedReplicas = deployed.Replicas+1, deployed.UpdatedReplicas+1
		of(slot).State, of(slot).Since = instruction.StateCopying, r.in.Now
		r.in.Plan.Slots.Progress = progress(manySlots-from, slot-from+1)
		r.pass(t, each)
	}
	r.pass(t, copyTime)
	for slot := from; slot < to; slot++ {
		of(slot).State, of(slot).Since, of(slot).Pod = instruction.StateServing, r.in.Now, podOf(slot, 2)
		r.remove(podOf(slot, 1))
		r.in.Plan.Slots.Progress = progress(manySlots-slot-1, to-slot-1)
		deployed.Replicas--
		r.pass(t, each)
	}
}

func TestARolloutOfAThousandSlotsWritesLessThanTwoMebibytesOfStatus(t *testing.T) {
	t.Parallel()
	for name, surge := range map[string]int{"one at a time": 1, "a quarter at a time": manySlots / 4} {
		t.Run(name, func(t *testing.T) {
			r := newRolling()
			r.pass(t, 0)
			r.writes, r.bytes = 0, 0
			r.in.Memcached.Generation = 2
			r.deployment.Status.UpdatedReplicas = 0
			for slot := 0; slot < manySlots; slot += surge {
				r.handOver(t, slot, slot+surge)
			}
			r.pass(t, time.Second)
			if last := r.in.Memcached.Status; !meta.IsStatusConditionTrue(last.Conditions, cachev1.ConditionReady) || last.Slots[manySlots-1].Pod != podOf(manySlots-1, 2) {
				t.Errorf("in the end: %+v", last.Conditions)
			}
			t.Logf("%d writes with %d bytes", r.writes, r.bytes)
			if r.bytes > 2<<20 {
				t.Errorf("%d writes with %d bytes", r.writes, r.bytes)
			}
		})
	}
}
