package slots

import (
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// progressInterval is how often the progress of a copy is read.
const progressInterval = 5 * time.Second

// settleTime is how long a Pod that had a role before may still be reported ready under that role: the agent reads its
// file within a second, is probed every second, and the kubelet and the watch add less than a second each.
const settleTime = 5 * time.Second

// isSettled reports whether the readiness of a Pod is that under its role.
func (b *board) isSettled(pod *Pod) bool { return !b.Now.Before(pod.Instruction.Since.Add(settleTime)) }

// copyEnds returns when a copy took too long.
func (b *board) copyEnds(pod *Pod) time.Time { return pod.Instruction.Since.Add(b.Timeout) }

// requeueAfter returns when something must be decided without an event: that a copy took too long, or that a Pod on a
// cordoned Node may be evicted. The progress of a copy is no event either.
func (b *board) requeueAfter() time.Duration {
	var first time.Duration
	wait := func(duration time.Duration) {
		duration = max(duration, time.Second)
		if first == 0 || duration < first {
			first = duration
		}
	}
	for _, pod := range b.live {
		if b.isSuccessor(pod) && b.following(pod).Role == instruction.Receive {
			wait(progressInterval)
			wait(b.following(pod).Since.Add(b.Timeout).Sub(b.Now))
		}
		if role := b.following(pod).Role; b.isSuccessor(pod) && role == instruction.Cold || role == instruction.None {
			if left := b.following(pod).Since.Add(settleTime).Sub(b.Now); left > 0 {
				wait(left)
			}
		}
		if b.holds(pod) && b.isProtected(pod) {
			wait(b.following(pod).Record.CordonedSince.Add(b.Timeout).Sub(b.Now))
		}
	}
	return first
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
