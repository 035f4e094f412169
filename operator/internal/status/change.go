package status

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// fewPods is the size of a cache from which changes to its Pods are not written into the status immediately.
const fewPods = 20

// numbers matches the numbers in messages.
var numbers = regexp.MustCompile("[0-9]+")

// Change is how urgently a status must be written.
type Change int

const (
	// Urgent means that the state of the cache changed, or that the cache has few Pods.
	Urgent Change = iota

	// Progress means that a fifth or more of the Pods changed, and that the cache still is not Ready, with the same reason
	// as before.
	Progress

	// Minor means that fewer Pods changed. Such a status is written later: otherwise a rollout of a hundred Pods would
	// cost several hundred writes.
	Minor
)

// ChangeOf returns how urgently a changed status must be written.
func ChangeOf(mc *cachev1.Memcached, now cachev1.MemcachedStatus) Change {
	size := max(now.Replicas, mc.Status.Replicas, plan.SizeOf(mc))
	isReady := meta.IsStatusConditionTrue(now.Conditions, cachev1.ConditionReady)
	switch {
	case size < fewPods, isReady, Differs(withoutPods(mc.Status), withoutPods(now)):
		return Urgent
	case 5*podsChanged(mc.Status, now) >= size:
		return Progress
	}
	return Minor
}

// podsChanged counts the Pods, or their slots, that changed.
func podsChanged(old, now cachev1.MemcachedStatus) int32 {
	return max(
		missing(old.Nodes, now.Nodes), missing(now.Nodes, old.Nodes), slotsChanged(old.Slots, now.Slots),
		distance(old.Replicas, now.Replicas), distance(old.ReadyReplicas, now.ReadyReplicas),
	)
}

// slotsChanged counts the slots that changed, were added or were removed.
func slotsChanged(old, now []cachev1.SlotStatus) int32 {
	both := min(len(old), len(now))
	count := int32(max(len(old), len(now)) - both) //nolint:gosec // At most 1000.
	for i := range both {
		was, is := old[i], now[i]
		sameTime := was.Since.Equal(is.Since)
		if was.Since, is.Since = nil, nil; !sameTime || was != is {
			count++
		}
	}
	return count
}

// missing counts the names of a sorted list that are not in another sorted list.
func missing(names, in []string) int32 {
	var count int32
	for _, name := range names {
		if _, found := slices.BinarySearch(in, name); !found {
			count++
		}
	}
	return count
}

func distance(a, b int32) int32 { return max(a-b, b-a) }

// withoutPods returns a status without the parts that change with each Pod.
func withoutPods(status cachev1.MemcachedStatus) cachev1.MemcachedStatus {
	status.Nodes, status.Slots, status.Replicas, status.ReadyReplicas = nil, nil, 0, 0
	status.Conditions = slices.Clone(status.Conditions)
	for i := range status.Conditions {
		status.Conditions[i].Message = numbers.ReplaceAllString(status.Conditions[i].Message, "")
	}
	return status
}
