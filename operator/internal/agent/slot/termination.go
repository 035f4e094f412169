package slot

// Decides how long a deleted Pod continues to serve its slot.

import (
	"context"
	"log/slog"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

const (
	// Patience is how long a Pod that terminates waits until its successor begins to copy its keys. A new Pod has to be
	// scheduled and started before, sometimes on a Node that an autoscaler has to add first.
	Patience = 2 * time.Minute

	// remembered is how long a DNS server may give an outdated answer: 30 seconds with the defaults of kubeadm, and
	// some more. A restarted DNS server may not know all names yet, either.
	remembered = 35 * time.Second

	// look is the interval at which a terminating Pod looks up which Pod has its slot.
	look = 2 * time.Second
)

// Holder says which Pod has the slot of this Pod, as far as this Pod can find out by itself: while it terminates, the
// kubelet gives it no new instruction.
type Holder int

// Values of Holder.
const (
	Unknown    Holder = iota // DNS gave no answer
	ThisPod                  // the slot's DNS name resolves to this Pod
	AnotherPod               // the slot's DNS name resolves to another address
	NoPod                    // the slot's DNS name does not exist
)

// Termination ends memcached when neither clients nor other Pods need this Pod any more.
type Termination struct {
	// Drain is how long clients with open connections still use a Pod after another Pod has its slot.
	Drain time.Duration

	// Timeout is how long the handoff may take.
	Timeout time.Duration

	// Holder finds out which Pod has a slot, and Copied whether the keys of this Pod are being copied.
	Holder func(ctx context.Context, slot string) Holder
	Copied func(ctx context.Context) bool

	Log *slog.Logger
}

// Wait waits until memcached may end, or until the context ends. Its parameter ordered is the last instruction that the
// Pod saw.
func (t *Termination) Wait(ctx context.Context, ordered instruction.Instruction) {
	end := ending{role: ordered.Role, drain: t.Drain, timeout: t.Timeout, began: time.Now()}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	logged := ""
	for {
		if end.mustLook() {
			end.note(t.Holder(ctx, ordered.Slot), end.copied || t.Copied(ctx), time.Now())
		}
		until, why := end.until()
		if why != logged {
			t.Log.Info("The Pod terminates", "slot", ordered.Slot, "why", why, "atTheLatest", until.UTC())
			logged = why
		}
		if !time.Now().Before(until) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// ending has the observations of a terminating Pod about itself.
type ending struct {
	role           instruction.Role
	drain, timeout time.Duration
	began          time.Time

	copied bool      // a copy began
	had    bool      // the name had this Pod's address, so a later answer with another address is not outdated
	holder Holder    // the last answer
	since  time.Time // when this answer was first given
}

// mustLook reports whether the end of memcached depends on which Pod has the slot.
func (e *ending) mustLook() bool {
	return e.role != instruction.None && e.role != instruction.Leave
}

func (e *ending) note(holder Holder, copied bool, now time.Time) {
	e.copied = copied
	if holder == Unknown {
		return
	}
	e.had = e.had || holder == ThisPod
	if holder != e.holder {
		e.holder, e.since = holder, now
	}
}

// until returns the time at which memcached is to end, and the reason. At the latest, memcached ends after the time for
// a handoff, followed by the longer one of the drain and remembered.
func (e *ending) until() (until time.Time, why string) {
	switch {
	case e.role == instruction.None:
		return e.began, "it has no slot"
	case e.role == instruction.Leave:
		return e.began.Add(e.drain), "this Pod gave its slot away, and clients with open connections still use it"
	case e.holder == AnotherPod && e.had:
		return e.since.Add(e.drain), "another Pod has the slot, and clients with open connections still use this one"
	case e.holder == AnotherPod:
		return e.since.Add(max(e.drain, remembered)), "another Pod seems to have the slot"
	case e.holder == NoPod:
		return e.since.Add(remembered), "its slot has no address: the cache or the slot was deleted"
	case !e.copied:
		return e.began.Add(min(Patience, e.timeout)), "no other Pod has begun to copy its keys"
	}
	return e.began.Add(e.timeout), "another Pod copies its keys"
}
