package overview

// All caches, the worst first.

import (
	"cmp"
	"slices"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Member is a cache of a fleet.
type Member struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Summary   `json:",inline"`

	Waits   []Waiting  `json:"waits,omitempty"`
	Image   string     `json:"image,omitempty"`
	Expires *time.Time `json:"certificateNotAfter,omitempty"`
	Created *time.Time `json:"created,omitempty"`
}

// FleetOf returns caches, the worst first. It needs nothing but the Memcacheds.
func FleetOf(caches []cachev1.Memcached) []Member {
	members := make([]Member, 0, len(caches))
	for i := range caches {
		mc := &caches[i]
		member := Member{
			Namespace: mc.Namespace, Name: mc.Name, Summary: SummaryOf(mc), Waits: WaitsOf(mc),
			Image: mc.Status.Image, Created: timeOf(&mc.CreationTimestamp),
		}
		if mc.Status.TLS != nil {
			member.Expires = timeOf(mc.Status.TLS.NotAfter)
		}
		members = append(members, member)
	}
	slices.SortStableFunc(members, worstFirst)
	return members
}

// worstFirst orders by the state, then by the share of Pods that are not ready, then by the number of Waits.
func worstFirst(a, b Member) int {
	return cmp.Or(
		cmp.Compare(rank(a), rank(b)), cmp.Compare(a.readyShare(), b.readyShare()),
		cmp.Compare(len(b.Waits), len(a.Waits)),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	)
}

// rank returns the place of a cache in the order of states. A cache whose Pods fail is worse than a cache that replaces
// its Pods.
func rank(m Member) int {
	place := slices.Index([]State{Stalled, Unknown, Reconciling, Ready}, m.State) * 2
	if m.State == Reconciling && (m.Reason == cachev1.ReasonRollingOut || m.Reason == cachev1.ReasonHandingOver) {
		place++
	}
	return place
}

func (s Summary) readyShare() float64 {
	if s.Size == 0 {
		return 1
	}
	return float64(s.Ready) / float64(s.Size)
}
