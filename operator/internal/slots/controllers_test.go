package slots

import (
	"cmp"
	"math"
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// deployment and replicaSet are simulated as in pkg/controller/deployment of Kubernetes, with maxUnavailable 0.
type deployment struct {
	template string
	replicas int
	surge    int
	paused   bool
}

type replicaSet struct {
	hash     string
	replicas int
	desired  int // like most, an annotation that the Deployment controller writes
	most     int
	scaled   bool // scale made the last change to replicas
}

func (w *world) setOf(hash string) *replicaSet {
	for _, set := range w.sets {
		if set.hash == hash {
			return set
		}
	}
	return nil
}

func (w *world) resize(set *replicaSet, replicas int) {
	if set.replicas != replicas {
		w.log("ReplicaSet %s: %d -> %d", set.hash, set.replicas, replicas)
	}
	set.scaled = set.scaled && set.replicas == replicas
	set.replicas, set.desired, set.most = max(replicas, 0), w.deployment.replicas, w.deployment.replicas+w.deployment.surge
}

// total returns the replicas of all ReplicaSets.
func (w *world) total() int {
	total := 0
	for _, set := range w.sets {
		total += set.replicas
	}
	return total
}

func (w *world) available(hash string) int {
	available := 0
	for _, pod := range w.pods {
		if pod.Hash == hash && pod.Ready && !pod.Terminating {
			available++
		}
	}
	return available
}

// deploy is one sync of the Deployment controller.
func (w *world) deploy() {
	d := w.deployment
	current := w.setOf(d.template)
	scaling := slices.ContainsFunc(w.sets, func(s *replicaSet) bool { return s.replicas > 0 && s.desired != d.replicas })
	switch {
	case d.paused || scaling:
		w.scale(current)
		return
	case current == nil:
		current = &replicaSet{hash: d.template}
		w.sets = append(w.sets, current)
	}
	switch room := d.replicas + d.surge - w.total(); {
	case current.replicas > d.replicas:
		w.resize(current, d.replicas)
	case current.replicas < d.replicas && room > 0:
		w.resize(current, current.replicas+min(room, d.replicas-current.replicas))
	default:
		w.scaleDownOld(current)
	}
}

// scaleDownOld removes as many Pods of old ReplicaSets as availability allows, those that are not ready first.
func (w *world) scaleDownOld(current *replicaSet) {
	d := w.deployment
	budget := w.total() - d.replicas - (current.replicas - w.available(current.hash))
	ready := -d.replicas
	for _, set := range w.sets {
		if set != current {
			unhealthy := min(max(set.replicas-w.available(set.hash), 0), budget)
			if unhealthy > 0 {
				w.resize(set, set.replicas-unhealthy)
				budget -= unhealthy
			}
		}
		ready += w.available(set.hash)
	}
	for _, set := range w.sets {
		if count := min(set.replicas, ready, budget); set != current && count > 0 {
			w.resize(set, set.replicas-count)
			ready, budget = ready-count, budget-count
		}
	}
}

// scale changes the size of all ReplicaSets in proportion.
func (w *world) scale(current *replicaSet) {
	d := w.deployment
	active := slices.DeleteFunc(slices.Clone(w.sets), func(s *replicaSet) bool { return s.replicas == 0 })
	switch {
	case len(active) == 0 && current != nil:
		active = []*replicaSet{current}
		fallthrough
	case len(active) == 1:
		w.resize(active[0], d.replicas)
		return
	case len(active) == 0:
		return
	case current != nil && current.replicas == d.replicas && w.available(current.hash) == d.replicas:
		for _, set := range active {
			if set != current {
				w.resize(set, 0)
			}
		}
		return
	}
	change := d.replicas + d.surge - w.total()
	if d.replicas == 0 {
		change = -w.total()
	}
	slices.SortStableFunc(active, func(x, y *replicaSet) int { return cmp.Compare(y.replicas, x.replicas) })
	sizes, added := make([]int, len(active)), 0
	for i, set := range active {
		part := int(math.Round(float64(set.replicas)*float64(d.replicas+d.surge)/float64(max(set.most, 1)))) - set.replicas
		if change > 0 {
			part = max(0, min(part, change-added))
		} else {
			part = min(0, max(part, change-added))
		}
		sizes[i] = set.replicas + part
		added += part
	}
	sizes[0] += change - added
	for i, set := range active {
		w.resize(set, sizes[i])
		set.scaled = true
	}
}

// replicate is one sync of the ReplicaSet controller.
func (w *world) replicate(set *replicaSet) {
	var pods []*simPod
	for _, pod := range w.pods {
		if pod.Hash == set.hash && !pod.Terminating {
			pods = append(pods, pod)
		}
	}
	for range set.replicas - len(pods) {
		w.create(set.hash)
	}
	if surplus := len(pods) - set.replicas; surplus > 0 {
		slices.SortStableFunc(pods, deletedFirst)
		for _, pod := range pods[:surplus] {
			w.deleteSurplus(pod, pods[surplus:], set)
		}
	}
}

func deletedFirst(x, y *simPod) int {
	return cmp.Or(
		boolean(x.node != none)-boolean(y.node != none),
		boolean(x.running)-boolean(y.running),
		boolean(x.Ready)-boolean(y.Ready),
		int(x.Cost-y.Cost),
		y.ready.Compare(x.ready),
		y.Created.Compare(x.Created),
	)
}

func boolean(value bool) int {
	if value {
		return 1
	}
	return 0
}

func (w *world) deleteSurplus(pod *simPod, others []*simPod, set *replicaSet) {
	if slot := w.slotOf(pod.UID); slot != none && slot < w.size {
		if !set.scaled {
			w.losses++
		}
		w.log("the holder %s of slot %d is deleted", pod.Name, slot)
		for _, other := range others {
			gave := other.Instruction.Role == instruction.Leave && w.slotOf(other.UID) == none
			lags := other.Ready && !other.GateTrue || // The kubelet has not reported the readiness gate yet.
				other.Ready && w.operated.Before(other.Instruction.Since.Add(settleTime)) || pod.ready.IsZero() ||
				w.operated.Before(pod.lost.Add(settleTime)) // It stopped being ready before the operator could react.
			if gave && !lags {
				w.violated("%s is deleted, which holds slot %d, but not %s, which holds none", pod.Name, slot, other.Name)
			}
		}
	}
	w.terminate(pod)
}
