package slot

// Does what a changed instruction requires.

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// begin starts to follow another instruction. If the agent is not ready any more, it reports this before begin waits
// for anything.
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

// prepare sets todo to the work that an instruction requires.
func (f *Follower) prepare(order instruction.Instruction, previous *job, now time.Time) {
	switch order.Role {
	case instruction.Serve:
		if previous.holdsAll(order.Slot) { // The kubelet may have skipped the role Moved, which came in between.
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

// leavesDirty reports whether this memcached may have a part of a copy. It has no such part if its own keys are copied
// to other Pods.
func (j *job) leavesDirty() bool {
	return j != nil && j.order.Role != instruction.Send && (!j.hasEnded() || j.err != nil)
}

// scales reports whether the instruction is about a change to clients' list of servers.
func scales(order instruction.Instruction) bool { return order.Scale != (instruction.Scale{}) }

// keepsJob reports whether the copier continues to run although the instruction has changed. If not all keys were
// copied, the changes that clients made in this memcached in the meantime are unknown, so the role Moved starts the
// copier again.
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

// resume starts the copier again. Before that, it empties this memcached, because the agent may have missed changes by
// clients in the other one. If only some keys move, it does not empty memcached, and the copier removes only these
// keys.
func (f *Follower) resume(ctx context.Context) error {
	if !scales(f.order) {
		if err := f.empty(ctx); err != nil {
			return err
		}
	}
	f.start(ctx, true)
	return nil
}

// checkJob examines once how the copier ended. If it ended after all keys were copied, and clients may already use this
// Pod, the agent continues to run.
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
	case isUnused && f.order.Role == instruction.Moved: // The other memcached was not emptied; clients still use it.
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
			return "memcached must be emptied first"
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

// sendUnready is for how long an agent with the role Send is not ready in any case: the Pod was ready before, and the
// operator sees that the copy began only after several probes have failed.
const sendUnready = 12 * time.Second

// job is a run of the copier. It is kept after its end, because the keys that it copied are still in memcached.
type job struct {
	order  instruction.Instruction
	copied atomic.Bool
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // valid once it has ended
	judged bool  // checkJob has examined its end
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

// wakeUp makes Run take its next step immediately.
func (f *Follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default: // Run is about to take its next step anyway
	}
}

func (j *job) hasCopied() bool { return j != nil && j.copied.Load() }

// holdsAll reports whether this memcached has all keys of a slot.
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

// stop ends the copier and waits for its end, because the copier must not write to memcached any more. If it does not
// end, stop crashes the agent, which closes all connections, and the supervisor starts the agent again.
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
