package slots

// How long each step of a handoff may take.

import (
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// settleTime is how long a Pod that had a role before may still be reported ready under that role: the agent reads its
// file within a second, is probed every second, and the kubelet and the watch add less than a second each.
const settleTime = 5 * time.Second

// isSettled reports whether the reported readiness of a Pod belongs to its current role.
func (s *state) isSettled(pod *Pod) bool { return !s.Now.Before(pod.Instruction.Since.Add(settleTime)) }

// isFuture reports whether a time is in the future: the clock was ahead when the time was recorded, and was set back
// since.
func (s *state) isFuture(at time.Time) bool { return at.After(s.Now.Add(settleTime)) }

// isAhead reports whether the clock was set back since a Pod got an instruction under which a slot may wait for the
// Pod: until it is seen not ready, or has drained. The age of such an instruction is unknown, so it counts from now on.
// The agent then repeats what it may have done already: it empties memcached, or ends it. So the time of an instruction
// does not change while clients use the Pod, except if the Pod has the role Send and has not begun to copy its keys to
// the others.
func (s *state) isAhead(pod *Pod, i instruction.Instruction) bool {
	waits := i.Role == instruction.None || i.Role == instruction.Cold && !s.holds(pod) || i.Role == instruction.Leave ||
		i.Role == instruction.Send && i.Record.Began.IsZero()
	return waits && s.isFuture(i.Since)
}

// dated returns a record without times in the future: they come from a clock that was ahead, and the current time
// replaces them. No agent reads these times.
func (s *state) dated(record instruction.Record) instruction.Record {
	for _, at := range []*time.Time{&record.StateSince, &record.MovedAt, &record.Began} {
		if s.isFuture(*at) {
			*at = s.Now
		}
	}
	return record
}

// copyEnds returns the time at which a copy has taken too long. If the clock was ahead when the instruction was given,
// the copy counts from its beginning in the record. If the record has no beginning, the copy counts from now on,
// because a copy that has not begun has not taken too long.
func (s *state) copyEnds(pod *Pod) time.Time {
	i := pod.Instruction
	began := i.Since
	if s.isFuture(began) {
		began = i.Record.StateSince
		if i.Role == instruction.Send {
			began = i.Record.Began
		}
	}
	if began.IsZero() {
		began = s.Now
	}
	return began.Add(s.Timeout)
}

// within returns in how many seconds the keys of a terminating holder have to be copied. After the copy, the holder
// still has to notice that its slot moved, and to drain, before the kubelet kills it. 0 means that the holder does not
// terminate.
func (s *state) within(holder *Pod) int64 {
	if !holder.Terminating {
		return 0
	}
	left := holder.Ends.Sub(s.Now) - s.Drain - endTime
	return int64(max(1, min(left, s.Timeout).Seconds()))
}

// endTime is the time that a Pod has after its handoff, besides the drain: 30 seconds to end in order (graceSeconds of
// the package render), and 10 seconds for the slot to move.
const endTime = 40 * time.Second

// drained returns when the memcached of a Pod that gave its slot away has ended. It includes settleTime, because the
// agent counts from when it reads the instruction.
func drained(pod *Pod) time.Time {
	return pod.Instruction.Since.Add(time.Duration(pod.Instruction.End)*time.Second + settleTime)
}

// moveTime is how long it may take, in addition to MinReady, until the predecessor of a Pod that took a slot is
// deleted: the operator opens the gate of the Pod, the kubelet reports it, and the Deployment scales down. Seconds
// suffice, but not on a busy cluster.
const moveTime = time.Minute

// moveEnds returns until when the predecessor of a Pod that took a slot should be deleted.
func (s *state) moveEnds(pod *Pod) time.Time {
	since := pod.Instruction.Since
	if moved := pod.Instruction.Record.MovedAt; moved.After(since) || s.isFuture(since) {
		since = moved
	}
	return since.Add(moveTime + s.MinReady)
}

// requeueAfter returns after what time something must be decided even without an event, or 0.
func (s *state) requeueAfter() time.Duration {
	var first time.Duration
	for _, pod := range s.live {
		deadlines := s.deadlines(pod)
		if !s.hasRoom(pod) && !s.holds(pod) {
			deadlines = append(deadlines, s.roomEnds(pod))
		}
		for _, at := range deadlines {
			if left := max(at.Sub(s.Now), time.Second); first == 0 || left < first {
				first = left
			}
		}
	}
	return first
}

// deadlines returns the times at which a decision about a Pod is due: for example, when its copy has taken too long, or
// when the readiness that it reports belongs to its current role (settleTime).
func (s *state) deadlines(pod *Pod) []time.Time {
	i := s.following(pod)
	settled := i.Since.Add(settleTime)
	switch {
	case i.Role == instruction.Send && i.Record.Began.IsZero() && s.Now.Before(settled):
		return []time.Time{settled}
	case (s.isSuccessor(pod) || pod == s.joining) && i.Role == instruction.Receive, i.Role == instruction.Send:
		return []time.Time{s.copyEnds(pod)}
	case (i.Role == instruction.Cold || i.Role == instruction.None) && s.Now.Before(settled):
		return []time.Time{settled}
	case s.isNeededAgain(pod) && i.Role == instruction.Leave && s.Now.Before(drained(pod)):
		return []time.Time{drained(pod)}
	case i.Role == instruction.Moved && s.overlaps(pod):
		return []time.Time{s.overlapEnds(pod)}
	case s.holds(pod) && i.Role == instruction.Moved && s.Now.Before(s.moveEnds(pod)):
		return []time.Time{s.moveEnds(pod)}
	}
	return nil
}
