// Package slot follows the instructions that the operator writes into an annotation of the Pod. It copies the keys of
// the Pod that had the slot before, keeps both Pods consistent while clients use both, and ends memcached when the Pod
// has given its slot away.
//
// Data flows one way: the kubelet writes the annotation of the Pod into a file, a Follower reads the file and chooses
// what to do, a Copier does it, and /ready answers whether the Pod may serve the slot.
package slot

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// interval is how often the file is read. The kubelet updates it within a few hundred milliseconds.
const interval = 200 * time.Millisecond

// Copier acts on this Pod's memcached, and on the memcached of the Pod that the instruction names.
type Copier interface {
	// Copy first removes, from each memcached that is to get keys, the keys that it is to get. Then it copies these keys,
	// and calls copied. From then on, it removes each key that changes in one memcached from the others. It returns nil
	// when a memcached that keys leave has ended in order, and otherwise an error, even if only the context ends. After a
	// failure, it has removed the copied keys. If it failed after the copy, it has removed, from all memcacheds that it
	// could reach, the keys that move.
	Copy(ctx context.Context, order instruction.Instruction, copied func()) error

	// Resume removes from all memcacheds the keys that move. Then it removes each key that changes in one of them from the
	// others, until a memcached that keys leave ends.
	Resume(ctx context.Context, order instruction.Instruction) error

	// Hurry makes a Copy in progress end within this time, faster than its rate if necessary.
	Hurry(within time.Duration)

	// Lost returns why the keys that the last Copy copied are lost; empty if they are not.
	Lost() string

	// Empty empties this memcached.
	Empty(ctx context.Context) error

	// End ends this memcached, which first sends the rest of its log.
	End(ctx context.Context) error
}

// Follower follows the instructions in a file.
type Follower struct {
	File   string
	Copier Copier
	Log    *slog.Logger

	order    instruction.Instruction
	ordered  atomic.Pointer[instruction.Instruction] // a copy of order, for other goroutines
	job      *job
	dirty    bool                        // memcached may hold a part of a copy
	lost     string                      // with the role Serve, why the copied keys are lost; empty if they are not
	todo     func(context.Context) error // the rest of the work for the order; nil if it is done
	due      time.Time                   // when to do this work
	began    time.Time                   // when the order was read
	now      time.Time                   // the time of the step in progress
	unread   report.Problem
	undone   report.Problem
	waitsFor atomic.Pointer[string] // why the agent is not ready: nil before the first step, "" if it is ready
	wake     chan struct{}
}

// Ready returns an error unless the Pod may serve its slot.
func (f *Follower) Ready() error {
	reason := f.waitsFor.Load()
	if reason == nil {
		return errors.New("the instruction was not read yet")
	}
	if *reason != "" {
		return errors.New(*reason)
	}
	return nil
}

// Order returns the last instruction. It is nil until the file was read for the first time.
func (f *Follower) Order() *instruction.Instruction { return f.ordered.Load() }

// Memory returns the memory for items that the last instruction requires, in bytes; 0 means the memory that memcached
// starts with.
func (f *Follower) Memory() int64 {
	if order := f.Order(); order != nil {
		return order.Memory
	}
	return 0
}

// Run follows the instructions until the context ends. It returns a report.Failed if a copy failed.
func (f *Follower) Run(ctx context.Context) error {
	f.wake = make(chan struct{}, 1)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	defer func() { f.job.stop() }()
	for ctx.Err() == nil {
		if err := f.step(ctx, time.Now()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-f.wake:
		}
	}
	return nil
}

// step reads the instruction, and does all work that can be done now.
func (f *Follower) step(ctx context.Context, now time.Time) error {
	f.now = now
	order, err := f.read()
	f.unread.Log(f.Log, "The instruction can't be read; the last one stays valid", err)
	switch {
	case err != nil:
	case f.ordered.Load() == nil, differs(order, f.order):
		f.begin(ctx, order, now)
	case order.Within != f.order.Within:
		f.order.Within = order.Within
		f.Copier.Hurry(time.Duration(order.Within) * time.Second)
	}
	if err == nil && order.Memory != f.order.Memory {
		f.order.Memory = order.Memory
		f.ordered.Store(&order)
	}
	if err := f.checkJob(ctx); err != nil {
		return err
	}
	if f.todo != nil && !now.Before(f.due) {
		err := f.todo(ctx)
		f.undone.Log(f.Log, "The instruction can't be followed yet", err)
		if err == nil {
			f.todo = nil
		}
	}
	f.report()
	if f.lost != "" && f.todo == nil {
		return &report.Failed{Err: &handoff.Failure{Reason: f.lost, Err: errors.New("the keys that were copied are lost")}}
	}
	return nil
}

// read returns the instruction in the file, without the fields that the agent ignores.
func (f *Follower) read() (instruction.Instruction, error) {
	content, err := os.ReadFile(f.File)
	if err != nil {
		return instruction.Instruction{}, err
	}
	decoded, err := instruction.Decode(string(content))
	return decoded.Order(), err
}

// differs reports whether two instructions differ in anything other than the speed of the copy and the memory. A change
// to the speed or the memory must not start a copy again. A changed rate applies to the next copy.
func differs(a, b instruction.Instruction) bool {
	a.Rate, a.Within, a.Memory = b.Rate, b.Within, b.Memory
	return a != b
}
