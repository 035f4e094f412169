// Package reload makes memcached use what its mounted Secrets hold, without a restart.
//
// A Watcher looks at a folder every few seconds. Where it holds something new, memcached is told, and asked whether it
// uses it, until it does. Connections stay open, and no item is lost.
package reload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

var errPending = errors.New("memcached was signalled; the next check verifies it")

// Subject is what can be mounted, and how memcached is made to use it.
type Subject interface {
	// Read returns something that changes whenever the mounted Secret does; an error if memcached could not use it.
	Read() (version string, err error)

	// Tell makes memcached load what was read last.
	Tell(ctx context.Context) error

	// Check returns an error unless memcached uses what was read last.
	Check(ctx context.Context) error
}

// Watcher keeps one subject live.
type Watcher struct {
	Secret   string // what it is for: auth or tls
	Subject  Subject
	Interval time.Duration
	Log      *slog.Logger

	told, live string // versions
	reason     string // why it is not live, as it was logged
	inSync     atomic.Bool
	reloads    atomic.Int64
}

// InSync tells whether memcached uses what is mounted.
func (w *Watcher) InSync() bool { return w.inSync.Load() }

// Reloads is how often memcached was told.
func (w *Watcher) Reloads() int64 { return w.reloads.Load() }

// Run looks at once, and then every interval, until the context ends.
func (w *Watcher) Run(ctx context.Context) {
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		w.look(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// look looks once, and logs what is new about it.
func (w *Watcher) look(ctx context.Context) {
	err := w.guarded(ctx)
	if ctx.Err() != nil {
		return
	}
	w.inSync.Store(err == nil)
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if reason == w.reason {
		return
	}
	w.reason = reason
	if err != nil {
		w.Log.Info("Memcached does not use the mounted Secret", "reason", reason)
		return
	}
	w.Log.Info("Memcached uses the mounted Secret")
}

// guarded makes a panic an error of this step. A Pod is not ready while one of its containers is down, so the agent
// must not end over what somebody wrote into a Secret.
func (w *Watcher) guarded(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a bug of the agent: %v", r)
		}
	}()
	return w.step(ctx)
}

// step tells memcached of a version that is not live, and asks it the next time.
func (w *Watcher) step(ctx context.Context) error {
	version, err := w.Subject.Read()
	if err != nil || version == w.live {
		return err
	}
	pending := errPending
	if version == w.told {
		if pending = w.Subject.Check(ctx); pending == nil {
			w.live = version
			return nil
		}
	}
	if err := w.Subject.Tell(ctx); err != nil {
		return err
	}
	w.reloads.Add(1)
	w.told, w.live = version, ""
	return pending
}
