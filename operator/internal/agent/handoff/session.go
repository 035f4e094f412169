package handoff

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errDone is the cause of the end of a session after which nothing is left to do.
var errDone = errors.New("the old memcached has ended, and all its writes are known")

// session watches all memcacheds, and removes from one memcached the keys that change in another.
type session struct {
	handoff *Handoff
	move    Move
	sides   []atomic.Pointer[side] // in the order of Move.Servers; the newest side of a memcached that started again
	fail    context.CancelCauseFunc

	// storing ends when the new memcacheds have stored everything that was sent. If a memcached were emptied before that,
	// it would not stay empty.
	storing sync.WaitGroup

	pace *pace // of the copy

	// settled is whether the session copies nothing, and only follows what clients change.
	settled atomic.Bool

	// ended counts the sources that are absent, so that the session continues without them.
	ended atomic.Int64

	forgetting sync.Mutex

	// here counts how often clients changed or missed a key at the server that has it according to Move. elsewhere counts
	// how often they did so at a server that, according to Move, neither has nor gets the key.
	here, elsewhere atomic.Int64

	// listed counts the keys that the sources listed, and misplaced those of them that are at another server than Move
	// says.
	listed, misplaced atomic.Int64
}

// run watches all memcacheds and does the work. It then continues to watch until an error, or the end of an old
// memcached.
func (h *Handoff) run(ctx context.Context, work func(context.Context, *session) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := &session{
		handoff: h, move: h.Move, fail: fail, pace: &pace{limit: h.rate},
		sides: make([]atomic.Pointer[side], len(h.Move.Servers)),
	}
	s.settled.Store(h.counts.copied.Load())
	for number := range h.Move.Servers {
		s.sides[number].Store(s.newSide(ctx, number))
	}
	err := s.start(ctx)
	if err == nil {
		err = work(ctx, s)
	}
	if err != nil {
		fail(err) // no effect if there was an error before
	}
	s.settled.Store(true)
	<-ctx.Done()
	s.storing.Wait()
	return context.Cause(ctx)
}

func (s *session) newSide(ctx context.Context, number int) *side {
	side := &side{
		Member: s.move.Servers[number], number: number, changes: newChanges(), gaps: make(chan struct{}, 1),
		streamBuffer: share(streamBuffer, streamBuffers, len(s.sides)),
	}
	side.fail = func(err error) { s.lose(ctx, side, err) }
	return side
}

func (s *session) side(number int) *side { return s.sides[number].Load() }

// start begins to watch all memcacheds, and returns once the session can miss no change in any of them.
func (s *session) start(ctx context.Context) error {
	if err := s.each(func(side *side) error { return s.open(ctx, side) }); err != nil {
		return err
	}
	for _, side := range s.present() {
		s.follow(ctx, side)
	}
	return s.each(func(side *side) error { return side.ready(ctx) })
}

// open opens the connections of a side. If the memcached does not answer, a session that survives this begins without
// it.
func (s *session) open(ctx context.Context, side *side) error {
	err := side.open(ctx)
	if err == nil {
		side.state.Store(kept)
		return nil
	}
	if !s.survives() {
		return err
	}
	s.handoff.Log.Warn("A memcached does not answer, and the others are kept consistent without it", "server", side.Name,
		"error", err)
	side.state.Store(absent)
	side.leave()
	s.noteEnd(side)
	go s.await(ctx, side.number)
	return nil
}

// each calls a function for all sides that are present, concurrently.
func (s *session) each(do func(*side) error) error {
	sides := s.present()
	errs := make([]error, len(sides))
	var group sync.WaitGroup
	for i, side := range sides {
		group.Go(func() {
			if err := do(side); !side.isAbsent() {
				errs[i] = err
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// present returns the sides that have not ended.
func (s *session) present() (sides []*side) {
	for number := range s.sides {
		if side := s.side(number); !side.isAbsent() {
			sides = append(sides, side)
		}
	}
	return sides
}

// follow makes the session act on the log of a side.
func (s *session) follow(ctx context.Context, side *side) {
	side.stream.changed = func(raw []byte) error { return s.changed(side, raw) }
	side.stream.gap = func(err error) error { return s.unknown(side, err) }
	side.stream.idle = func() { s.flushRemovals(side.number) }
	side.stream.unused = func() bool {
		return s.move.external && s.move.isTarget(side.number) && !s.handoff.counts.copied.Load()
	}
	side.stream.others = func() error {
		if !side.stream.unused() {
			return nil
		}
		return otherAgent()
	}
	side.heartbeat.flushed = func() error { return s.flushed(side) }
	side.heartbeat.gap = side.stream.gap
	end := side.fail
	if s.move.isSource(side.number) {
		side.stream.removed = func(raw []byte) error { return s.removed(side.number, raw) }
		end = func(err error) { s.sourceEnded(ctx, side, err) }
	}
	side.run(ctx, end)
	go s.fillGaps(ctx, side)
}

// flushRemovals sends to the other sides the removals that the log of one side has caused.
func (s *session) flushRemovals(number int) {
	for _, side := range s.present() {
		if side.number != number {
			side.removals.flush()
		}
	}
}

// changed acts on a change to a key in one memcached.
func (s *session) changed(in *side, raw []byte) error {
	from, to := s.move.Of(raw)
	in.lastUsed.Store(time.Now().UnixNano())
	switch in.number {
	case from:
		s.here.Add(1)
	case to: // by a client that has the new list
	default:
		s.elsewhere.Add(1)
	}
	switch {
	case from == to:
		return nil
	case in.number == from:
		return s.changedInOld(in, s.side(to), raw)
	case in.number == to:
		s.changedInNew(s.side(from), raw)
	}
	return nil
}

// changedInOld makes the copier copy the key again or, after the copy, removes it from the new memcached.
func (s *session) changedInOld(from, to *side, raw []byte) error {
	collected, err := from.changes.add(raw)
	if !collected && !to.isAbsent() {
		s.handoff.counts.invalidated.Add(1)
		to.removals.remove(keyOf(raw))
	}
	return err
}

// changedInNew removes the key from the old memcached.
func (s *session) changedInNew(from *side, raw []byte) {
	s.handoff.counts.used.Store(s.handoff.counts.copied.Load())
	if from.isAbsent() {
		return
	}
	s.handoff.counts.invalidated.Add(1)
	from.removals.remove(keyOf(raw))
}

// removed is called after changedInNew, once the key is removed from the old memcached. The copy may have read the key
// before, and may have overwritten the item that a client stored in the new memcached. So until Copied is called, the
// removal counts as a change like any other. It must not count before the key is removed, because the copy would then
// read the old item once more.
func (s *session) removed(number int, raw []byte) error {
	from, to := s.move.Of(raw)
	if s.handoff.counts.copied.Load() || from == to || from != number {
		return nil
	}
	collected, err := s.side(from).changes.add(raw)
	if !collected {
		s.side(to).removals.remove(keyOf(raw))
	}
	return err
}

// flushed is called when a client has emptied a memcached. If all items move from one memcached to the other, and are
// copied, it empties the other memcached, too. Otherwise, the changes in the emptied memcached count as unknown.
func (s *session) flushed(side *side) error {
	if s.move.whole && s.handoff.counts.copied.Load() {
		s.side(1 - side.number).heartbeat.empty.Store(true)
		return nil
	}
	return s.unknown(side, &Failure{Reason: Flushed, Err: errors.New("a client has emptied memcached")})
}

// resume removes from both sides the keys that move, and keeps both sides consistent from then on.
func resume(ctx context.Context, s *session) error {
	for number := range s.sides {
		s.side(number).changes.stop()
	}
	err := s.each(func(side *side) error {
		if s.move.whole {
			side.heartbeat.empty.Store(true)
			return nil
		}
		return s.removeKeys(ctx, side, func(raw []byte) bool { return s.move.moves(raw, side.number) })
	})
	if err == nil {
		err = s.settle(ctx)
	}
	if err == nil {
		s.gather(ctx)
		s.handoff.report()
	}
	return err
}

// settle waits until all earlier changes are known, and all removals because of them are done. It waits for the sources
// first, because keys that are removed there may have to be removed from the targets, too.
func (s *session) settle(ctx context.Context) error {
	if err := s.each(func(side *side) error { return side.heartbeat.wait(ctx) }); err != nil {
		return err
	}
	if err := s.sync(ctx, s.move.Sources); err != nil {
		return err
	}
	return s.sync(ctx, s.move.Targets)
}

// sync waits until all removals from the memcacheds with these numbers are done.
func (s *session) sync(ctx context.Context, numbers []int) error {
	var errs []error
	for _, number := range numbers {
		errs = append(errs, s.side(number).sync(ctx))
	}
	return errors.Join(errs...)
}
