package slot

import (
	"context"
	"log/slog"
	"time"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

const (
	// emptyTimeout limits how long a memcached may take to be emptied.
	emptyTimeout = 5 * time.Second

	// endTimeout limits how long memcached may take to end.
	endTimeout = 10 * time.Second

	// mostGives is how many times the agent tries to give memcached its memory before a copy.
	mostGives = 10
)

// Memcached is the Copier for the memcached next to the agent.
type Memcached struct {
	// Own connects to this memcached.
	Own handoff.Dial

	// Peer returns a function that connects to the memcached of another Pod of the cache. The address is the IP address of
	// that Pod.
	Peer func(address string) handoff.Dial

	// Signal makes memcached send the rest of its log and end. It returns when memcached has ended.
	Signal func(ctx context.Context) error

	// Give sets memcached's memory for items, in bytes.
	Give func(ctx context.Context, bytes int64) error

	// Watching returns how many connections of this agent watch memcached's log for another purpose than a handoff; nil
	// means none.
	Watching func() int

	Log *slog.Logger

	// Timeout is how long a copy may take.
	Timeout time.Duration

	// Tracker tracks the handoffs.
	Tracker report.Tracker
}

// Copy implements Copier. It first waits for memcached, which may start after the agent. Then it gives memcached the
// memory that the instruction requires, because less memory may not suffice for all keys.
func (m *Memcached) Copy(ctx context.Context, order instruction.Instruction, copied func()) error {
	h, err := m.handoff(order)
	if err != nil {
		return err
	}
	h.Copied = copied
	return m.Tracker.Copy(ctx, h, func(ctx context.Context) error { return m.reach(ctx, order, h.Move.Servers) })
}

func (m *Memcached) reach(ctx context.Context, order instruction.Instruction, servers []handoff.Member) error {
	for peer.Answers(ctx, m.Own) != nil {
		if err := peer.Pause(ctx); err != nil {
			return err
		}
	}
	if err := m.give(ctx, order); err != nil {
		return err
	}
	for _, server := range servers {
		if err := peer.Reach(ctx, server, peer.Patience); err != nil {
			return err
		}
	}
	return nil
}

// give gives this memcached the memory for the keys that it is to get. If mostGives attempts fail, the copy begins
// without this memory, and only the keys that fit are copied.
func (m *Memcached) give(ctx context.Context, order instruction.Instruction) error {
	if order.Role != instruction.Receive || order.Memory == 0 {
		return nil
	}
	var refused error
	for range mostGives {
		if refused = m.Give(ctx, order.Memory); refused == nil {
			return nil
		}
		if err := peer.Pause(ctx); err != nil {
			return err
		}
	}
	m.Log.Warn("Memcached does not get its memory before it gets keys", "memory", order.Memory, "error", refused)
	return nil
}

// Resume implements Copier.
func (m *Memcached) Resume(ctx context.Context, order instruction.Instruction) error {
	h, err := m.handoff(order)
	if err != nil {
		return err
	}
	return m.Tracker.Resume(ctx, h)
}

// Hurry implements Copier.
func (m *Memcached) Hurry(within time.Duration) {
	if now := m.Tracker.Now(); now != nil {
		now.Hurry(within)
	}
}

// Lost implements Copier.
func (m *Memcached) Lost() string { return m.Tracker.Lost() }

// Empty implements Copier.
func (m *Memcached) Empty(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyTimeout)
	defer cancel()
	return handoff.Empty(ctx, m.Own)
}

// End implements Copier. If the end can't be announced, memcached ends nevertheless: the agent of the other Pod
// then empties its own memcached.
func (m *Memcached) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	if err := handoff.End(ctx, m.Own); err != nil {
		m.Log.Warn("The end of memcached could not be announced", "error", err)
	}
	return m.Signal(ctx)
}

func (m *Memcached) handoff(order instruction.Instruction) (*handoff.Handoff, error) {
	move, err := m.move(order)
	if err != nil {
		return nil, &handoff.Failure{Reason: handoff.Internal, Err: err}
	}
	return &handoff.Handoff{
		Move: move,
		Settings: handoff.Settings{
			Rate: order.Rate, Within: time.Duration(order.Within) * time.Second, Until: m.until(order, time.Now()),
		},
		Copied: func() {}, Log: m.Log.With("slot", order.Slot, "from", order.From),
	}, nil
}

// until returns the time at which a copy has to be complete: Timeout after the time of the instruction, because the
// operator counts from that time. If that time is in the future, the clock of this Node differs from the operator's, so
// until counts from now. If Timeout is over already, the clocks differ, too, because the operator would otherwise have
// given another instruction by now: until then allows half of Timeout from now.
func (m *Memcached) until(order instruction.Instruction, now time.Time) time.Time {
	if m.Timeout <= 0 {
		return time.Time{}
	}
	waited := now.Sub(order.Since)
	switch {
	case waited < 0:
		waited = 0
	case waited > m.Timeout:
		waited = m.Timeout / 2
	}
	return now.Add(m.Timeout - waited)
}

// move returns which keys move: all keys of one Pod to this Pod, or the keys whose server changes because the clients'
// list of servers changes.
func (m *Memcached) move(order instruction.Instruction) (handoff.Move, error) {
	scale := order.Scale
	if scale == (instruction.Scale{}) {
		return handoff.Whole(m.Peer(order.From), m.Own), nil
	}
	var servers []handoff.Dial
	for _, address := range scale.Addresses() {
		servers = append(servers, m.Peer(address))
	}
	return handoff.Relist(clienthash.Algorithm(scale.Hash), scale.ServerNames(), append(servers, m.Own),
		scale.Before, scale.After)
}
