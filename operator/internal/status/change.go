package status

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// fewPods is the size from which on changes of Pods are not written at once.
const fewPods = 20

// numbers are those in messages.
var numbers = regexp.MustCompile("[0-9]+")

// Change is how soon a status has to be written.
type Change int

const (
	// Urgent is another state, or a cache with few Pods.
	Urgent Change = iota

	// Progress is one of at least a fifth of the Pods, while the cache is not Ready, as before and for the same reason.
	Progress

	// Minor is the same of fewer Pods. A rollout of a hundred Pods would cost several hundred writes.
	Minor
)

// ChangeOf tells how soon a status has to be written that differs from the one before it.
func ChangeOf(mc *cachev1.Memcached, now cachev1.MemcachedStatus) Change {
	size := max(now.Replicas, mc.Status.Replicas)
	if mc.Spec.Size != nil {
		size = max(size, *mc.Spec.Size)
	}
	isReady := meta.IsStatusConditionTrue(now.Conditions, cachev1.ConditionReady)
	switch {
	case size < fewPods, isReady, Differs(withoutPods(mc.Status), withoutPods(now)):
		return Urgent
	case 5*podsChanged(mc.Status, now) >= size:
		return Progress
	}
	return Minor
}

// podsChanged counts the Pods that differ.
func podsChanged(old, now cachev1.MemcachedStatus) int32 {
	return max(
		missing(old.Nodes, now.Nodes), missing(now.Nodes, old.Nodes),
		distance(old.Replicas, now.Replicas), distance(old.ReadyReplicas, now.ReadyReplicas),
	)
}

// missing counts the names of a sorted list that another sorted list lacks.
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

// withoutPods leaves out of a status what changes with each Pod.
func withoutPods(status cachev1.MemcachedStatus) cachev1.MemcachedStatus {
	status.Nodes, status.Replicas, status.ReadyReplicas = nil, 0, 0
	status.Conditions = slices.Clone(status.Conditions)
	for i := range status.Conditions {
		status.Conditions[i].Message = numbers.ReplaceAllString(status.Conditions[i].Message, "")
	}
	return status
}
