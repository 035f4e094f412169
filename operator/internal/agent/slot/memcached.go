package slot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

const (
	// progressInterval is how often the progress is logged.
	progressInterval = 2 * time.Second

	// patience is how long the memcached to copy from may be unreachable before the copy fails. A NetworkPolicy allows
	// a new Pod after some seconds only, and the two Pods may not have the same version of a Secret yet.
	patience = 10 * time.Second

	// emptyTimeout limits how long a memcached may take to be emptied.
	emptyTimeout = 5 * time.Second

	// endTimeout limits how long memcached may take to end.
	endTimeout = 10 * time.Second
)

// Memcached is the Copier for the memcached next to the agent.
type Memcached struct {
	// Own connects to it.
	Own handoff.Dial

	// Peer returns how to connect to the memcached of another Pod of the cache, by its IP address.
	Peer func(address string) handoff.Dial

	// Signal makes it send its log to the end, and returns when it has ended.
	Signal func(ctx context.Context) error

	Log *slog.Logger

	mutex sync.Mutex
	stats Stats
	now   *handoff.Handoff // nil unless one is in progress
	since time.Time        // when it began, until all is copied
	lost  string           // why what the last Copy had copied is lost; empty if it is not
}

// Stats are the sums of all handoffs since the agent started.
type Stats struct {
	Keys, Bytes, Invalidations, Failures int64

	// Duration is how long the last copy took, or has taken so far, and Progress how much of the former Pod's memory it
	// has copied, from 0 to 1.
	Duration time.Duration
	Progress float64
}

// Stats returns the sums.
func (m *Memcached) Stats() Stats {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	stats := m.stats
	if m.now != nil {
		stats.add(m.now.Progress())
	}
	if !m.since.IsZero() {
		stats.Duration, stats.Progress = time.Since(m.since), ratio(m.now.Progress())
	}
	return stats
}

// ratio returns how much is copied. The memory of the former Pod includes more than keys and values.
func ratio(p handoff.Progress) float64 {
	switch {
	case p.Copied:
		return 1
	case p.TotalBytes <= 0:
		return 0
	}
	return min(1, float64(p.Bytes)/float64(p.TotalBytes))
}

func (s *Stats) add(p handoff.Progress) {
	s.Keys += p.Keys
	s.Bytes += p.Bytes
	s.Invalidations += p.Invalidated
}

// Copy is one of the Copier. Memcached may start after the agent, so it waits for it.
func (m *Memcached) Copy(ctx context.Context, order instruction.Instruction, copied func()) error {
	h, err := m.handoff(order)
	if err != nil {
		return err
	}
	m.begin(h, true)
	h.Copied = func() {
		m.endOfCopy()
		m.logProgress(order, h, true)
		copied()
	}
	err = m.copy(ctx, order, h)
	m.end(ctx, order, h, err)
	return err
}

func (m *Memcached) copy(ctx context.Context, order instruction.Instruction, h *handoff.Handoff) error {
	for answers(ctx, m.Own) != nil {
		if err := pause(ctx); err != nil {
			return err
		}
	}
	for _, server := range h.Move.Servers {
		if err := reach(ctx, server.Dial, patience); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var logging sync.WaitGroup
	logging.Go(func() { m.logUntilCopied(ctx, order, h) })
	defer logging.Wait()
	defer cancel()
	return h.Run(ctx)
}

// Resume is one of the Copier.
func (m *Memcached) Resume(ctx context.Context, order instruction.Instruction) error {
	h, err := m.handoff(order)
	if err != nil {
		return err
	}
	m.begin(h, false)
	err = h.Resume(ctx, m.whyLost())
	m.end(ctx, order, h, err)
	return err
}

// Hurry is one of the Copier.
func (m *Memcached) Hurry(within time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.now != nil {
		m.now.Hurry(within)
	}
}

// Lost is one of the Copier.
func (m *Memcached) Lost() string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.lost
}

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
		Move:     move,
		Settings: handoff.Settings{Rate: order.Rate, Within: time.Duration(order.Within) * time.Second},
		Copied:   func() {}, Log: m.Log.With("slot", order.Slot, "from", order.From),
	}, nil
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

func (m *Memcached) begin(h *handoff.Handoff, copies bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.now = h
	if copies {
		m.since, m.lost = time.Now(), ""
	}
}

// whyLost returns why a handoff is resumed: the last one failed, or it was another agent's.
func (m *Memcached) whyLost() string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return cmp.Or(m.lost, handoff.AgentRestarted)
}

func (m *Memcached) endOfCopy() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.since.IsZero() {
		m.stats.Duration, m.stats.Progress = time.Since(m.since), ratio(m.now.Progress())
		m.since = time.Time{}
	}
}

func (m *Memcached) end(ctx context.Context, order instruction.Instruction, h *handoff.Handoff, err error) {
	m.endOfCopy()
	m.logProgress(order, h, h.Progress().Copied)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.stats.add(h.Progress())
	m.now, m.lost = nil, cmp.Or(m.lost, h.Progress().Emptied)
	if err != nil && ctx.Err() == nil {
		m.stats.Failures++
	}
}

func (m *Memcached) logUntilCopied(ctx context.Context, order instruction.Instruction, h *handoff.Handoff) {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if h.Progress().Copied {
			return
		}
		m.logProgress(order, h, false)
	}
}

// logProgress writes how far a handoff is.
func (m *Memcached) logProgress(order instruction.Instruction, h *handoff.Handoff, copied bool) {
	p := h.Progress()
	m.Log.Info("handoff", "slot", order.Slot, "from", order.From, "keys", p.Keys, "bytes", p.Bytes,
		"totalKeys", p.TotalKeys, "totalBytes", p.TotalBytes, "skipped", p.Skipped, "copied", copied,
		"invalidated", p.Invalidated, "emptied", p.Emptied)
}

// FailureOf returns what the operator learns about an error of Follower.Run; false for other errors.
func FailureOf(err error) (instruction.Failure, bool) {
	var failed *Failed
	if !errors.As(err, &failed) {
		return instruction.Failure{}, false
	}
	failure := &handoff.Failure{Reason: handoff.Internal, Err: failed.Err}
	errors.As(failed.Err, &failure)
	text := fmt.Sprint(failure.Err)
	if failure.NotEmptied {
		text += "; memcached could not be emptied"
	}
	return instruction.Failure{Reason: failure.Reason, Error: text}, true
}
