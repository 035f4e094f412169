// Package reload makes memcached use the content of its mounted Secrets without a restart.
//
// A Watcher reads a folder every few seconds. After a change, the Watcher makes memcached load the new content, and
// repeats this until a check shows that memcached uses it. Connections stay open, and no item is lost.
package reload

// Makes memcached load a mounted Secret again when the Secret changes, and checks that memcached uses it.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

var errPending = errors.New("memcached was instructed to load the Secret; the next check shows whether it did")

// Subject is a kind of mounted Secret, with the way to make memcached use it.
type Subject interface {
	// Read reads the mounted Secret. It returns the version, which is a text that changes with the Secret, or an error if
	// memcached could not use the Secret.
	Read() (version string, err error)

	// Reload makes memcached load the version that was last read.
	Reload(ctx context.Context) error

	// Check returns an error unless memcached uses the version that was last read.
	Check(ctx context.Context) error
}

// Watcher keeps one subject up to date.
type Watcher struct {
	Secret   string // the purpose of the Secret: auth or tls
	Subject  Subject
	Interval time.Duration
	Log      *slog.Logger

	reloaded, live string // versions: the one that memcached was last made to load, and the one that it uses
	reason         string // why the Secret is not in use, as it was last logged
	inSync         atomic.Bool
	reloads        atomic.Int64
}

// InSync reports whether memcached uses the mounted Secret.
func (w *Watcher) InSync() bool { return w.inSync.Load() }

// Reloads returns how often memcached was made to load the Secret.
func (w *Watcher) Reloads() int64 { return w.reloads.Load() }

// Run reads the Secret immediately, and then at every interval, until the context ends.
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

// look takes one step. It logs when memcached begins to use the Secret, and why memcached does not use it.
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

// guarded runs a step, and returns a panic as an error. A Pod is not ready while one of its containers is down, so the
// content of a Secret must not end the agent.
func (w *Watcher) guarded(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a bug of the agent: %v", r)
		}
	}()
	return w.step(ctx)
}

// step makes memcached load a new version. The next step checks whether memcached uses it.
func (w *Watcher) step(ctx context.Context) error {
	version, err := w.Subject.Read()
	if err != nil || version == w.live {
		return err
	}
	pending := errPending
	if version == w.reloaded {
		if pending = w.Subject.Check(ctx); pending == nil {
			w.live = version
			return nil
		}
	}
	if err := w.Subject.Reload(ctx); err != nil {
		return err
	}
	w.reloads.Add(1)
	w.reloaded, w.live = version, ""
	return pending
}
