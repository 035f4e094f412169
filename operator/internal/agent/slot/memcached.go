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

	// mostGives is how often to try to give memcached its memory before a copy.
	mostGives = 10
)

// Memcached is the Copier for the memcached next to the agent.
type Memcached struct {
	// Own connects to it.
	Own handoff.Dial

	// Peer returns how to connect to the memcached of another Pod of the cache, by its IP address.
	Peer func(address string) handoff.Dial

	// Signal makes it send its log to the end, and returns when it has ended.
	Signal func(ctx context.Context) error

	// Give gives it memory for items, in bytes.
	Give func(ctx context.Context, bytes int64) error

	// Watching returns how many clients of this agent watch its log for another purpose than a handoff; nil is none.
	Watching func() int

	Log *slog.Logger

	// Timeout is how long a copy may take.
	Timeout time.Duration

	// Tracker tracks the handoffs.
	Tracker report.Tracker
}

// Copy is one of the Copier. Memcached may start after the agent, so it waits for it. With less memory than it is to
// have, it would not get all keys.
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

// give gives this memcached the memory for the keys that it is to get. After some attempts it gets those that fit.
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

// Resume is one of the Copier.
func (m *Memcached) Resume(ctx context.Context, order instruction.Instruction) error {
	h, err := m.handoff(order)
	if err != nil {
		return err
	}
	return m.Tracker.Resume(ctx, h)
}

// Hurry is one of the Copier.
func (m *Memcached) Hurry(within time.Duration) {
	if now := m.Tracker.Now(); now != nil {
		now.Hurry(within)
	}
}

// Lost is one of the Copier.
func (m *Memcached) Lost() string { return m.Tracker.Lost() }

// Empty is one of the Copier.
func (m *Memcached) Empty(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyTimeout)
	defer cancel()
	return handoff.Empty(ctx, m.Own)
}

// End is one of the Copier. Without the announcement, the agent of the other Pod empties its memcached; so memcached
// ends also if it could not be announced.
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

// until returns when a copy has to be complete: the operator counts the timeout from its instruction. If that is over,
// or has not begun, the clock of the Node differs: the operator would have instructed otherwise.
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

// move returns which keys move: all from one Pod to this one, or those whose server changes with clients' list.
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
