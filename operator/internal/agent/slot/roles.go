package slot

// What the agent does when its instruction changes.

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// begin follows another instruction. Nothing in it waits before the agent reports that it is not ready.
func (f *Follower) begin(ctx context.Context, order instruction.Instruction, now time.Time) {
	f.Log.Info("Following the instruction", "slot", order.Slot, "role", order.Role, "from", order.From)
	previous := f.job
	if !f.keepsJob(order) {
		f.job = nil
	}
	f.order, f.todo, f.due, f.began = order, nil, now, now
	f.ordered.Store(&order)
	f.prepare(order, previous, now)
	f.report()
	if previous != f.job {
		previous.stop()
	}
	f.lost = ""
	if order.Role == instruction.Serve && previous.hasCopied() && previous.order.Role != instruction.Send {
		f.lost = f.Copier.Lost()
	}
	if order.Role == instruction.Receive || order.Role == instruction.Send {
		f.start(ctx, false)
	}
}

// prepare notes what is to be done for an instruction.
func (f *Follower) prepare(order instruction.Instruction, previous *job, now time.Time) {
	switch order.Role {
	case instruction.Serve:
		if previous.holdsAll(order.Slot) { // The kubelet may have left out Moved, which came in between.
			f.dirty = false
		}
		if f.dirty {
			f.todo = f.empty
		}
	case instruction.Cold:
		f.todo = f.empty
	case instruction.Receive:
		f.dirty = true
	case instruction.Send:
	case instruction.Moved:
		f.dirty = f.job == nil && !scales(order)
		if f.job == nil {
			f.todo = f.resume
		}
	case instruction.Leave:
		f.todo, f.due = f.Copier.End, now.Add(time.Duration(order.End)*time.Second)
	case instruction.None:
		f.dirty = f.dirty || previous.leavesDirty()
	}
}

// leavesDirty reports whether this memcached may hold a part of a copy. One whose keys are copied away does not.
func (j *job) leavesDirty() bool {
	return j != nil && j.order.Role != instruction.Send && (!j.hasEnded() || j.err != nil)
}

// scales reports whether the order is about a change of clients' list of servers.
func scales(order instruction.Instruction) bool { return order.Scale != (instruction.Scale{}) }

// keepsJob reports whether the copier continues under another instruction. Where not all was copied, what clients
// changed in the meantime on this side is not known: then Moved begins again.
func (f *Follower) keepsJob(order instruction.Instruction) bool {
	switch order.Role {
	case instruction.Moved:
		return f.job.hasCopied() && f.job.order.Slot == order.Slot && f.job.order.From == order.From &&
			f.job.order.Scale == order.Scale
	case instruction.Leave:
		return !f.dirty
	case instruction.None, instruction.Serve, instruction.Cold, instruction.Receive, instruction.Send:
	}
	return false
}

func (f *Follower) empty(ctx context.Context) error {
	err := f.Copier.Empty(ctx)
	if err == nil {
		f.dirty = false
	}
	return err
}

// resume empties this side first: the agent may have missed what clients changed on the other one. If only some keys
// move, the copier removes these.
func (f *Follower) resume(ctx context.Context) error {
	if !scales(f.order) {
		if err := f.empty(ctx); err != nil {
			return err
		}
	}
	f.start(ctx, true)
	return nil
}

// checkJob looks once at how the copier ended. After the copy, clients use this Pod already, so the agent stays.
func (f *Follower) checkJob(ctx context.Context) error {
	job := f.job
	if job == nil || job.judged || !job.hasEnded() || ctx.Err() != nil {
		return nil
	}
	job.judged = true
	if job.err == nil {
		return nil
	}
	var failure *handoff.Failure
	isUnused := errors.As(job.err, &failure) && !failure.AfterCopied
	copies := f.order.Role == instruction.Receive || f.order.Role == instruction.Send
	if !job.hasCopied() || isUnused && copies {
		return &report.Failed{Err: job.err}
	}
	f.Log.Error("The handoff failed after all keys were copied", "slot", f.order.Slot, "error", job.err)
	switch {
	case f.todo != nil:
	case isUnused && f.order.Role == instruction.Moved: // The other side was not emptied, and clients use it still.
		f.todo = f.resume
	case failure == nil || !failure.NotEmptied:
	case scales(f.order):
		f.todo = f.resume
	default:
		f.todo = f.empty
	}
	return nil
}

// report publishes whether the agent is ready.
func (f *Follower) report() {
	reason := f.reason()
	f.waitsFor.Store(&reason)
}

func (f *Follower) reason() string {
	switch f.order.Role {
	case instruction.None:
		return "the Pod has no slot"
	case instruction.Serve, instruction.Cold:
		if f.todo != nil {
			return "memcached is to be emptied first"
		}
	case instruction.Receive:
		if !f.job.hasCopied() {
			return "the keys are being copied"
		}
	case instruction.Send:
		if !f.job.hasCopied() || f.now.Sub(f.began) < sendUnready {
			return "the keys are being copied to the other Pods"
		}
	case instruction.Moved, instruction.Leave:
	}
	return ""
}

// sendUnready is for how long an agent with the role Send is not ready in any case: the Pod was ready before, and
// several probes must fail for the operator to see that the copy began.
const sendUnready = 12 * time.Second

// job is a copier at work. It is kept when it has ended, because what it copied is still there.
type job struct {
	order  instruction.Instruction
	copied atomic.Bool
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // valid once it has ended
	judged bool  // its end was looked at
}

// start runs the copier in the background.
func (f *Follower) start(ctx context.Context, resume bool) {
	ctx, cancel := context.WithCancel(ctx)
	job := &job{order: f.order, cancel: cancel, ended: make(chan struct{})}
	job.copied.Store(resume)
	f.job = job
	go func() {
		defer f.wakeUp()
		defer close(job.ended)
		if resume {
			job.err = f.Copier.Resume(ctx, job.order)
			return
		}
		job.err = f.Copier.Copy(ctx, job.order, func() {
			job.copied.Store(true)
			f.wakeUp()
		})
	}()
}

// wakeUp lets Run look immediately.
func (f *Follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default: // it will look anyway
	}
}

func (j *job) hasCopied() bool { return j != nil && j.copied.Load() }

// holdsAll reports whether this side has all keys of a slot.
func (j *job) holdsAll(slot string) bool {
	return j.hasCopied() && j.order.Slot == slot && (!j.hasEnded() || j.err == nil)
}

func (j *job) hasEnded() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// stopTimeout is how long the copier may take to end.
const stopTimeout = 15 * time.Second

// stop ends the copier and waits for it: it must not write to memcached any more. If it does not end, the supervisor
// restarts the agent, which closes its connections.
func (j *job) stop() {
	if j == nil {
		return
	}
	j.cancel()
	select {
	case <-j.ended:
	case <-time.After(stopTimeout):
		panic("a bug of the agent: the handoff does not end")
	}
}
