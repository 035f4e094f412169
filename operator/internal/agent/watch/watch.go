// Package watch observes how memcached is used, while the operator requests this, and answers these requests.
package watch

// Watches memcached from the first request until usage.Patience after the last one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	// within is how long an answer may take.
	within = 2 * time.Second

	// fresh is how long an answer is used again, so that clients of the port can't keep memcached busy.
	fresh = time.Second

	// leastPause and mostPause limit how long to wait before the next connection, after memcached has ended one.
	leastPause = time.Second
	mostPause  = 30 * time.Second
)

// Watcher watches a memcached.
type Watcher struct {
	// Login connects to memcached, with a password if it requires one.
	Login func(context.Context) (*protocol.Client, error)

	// Copied returns the time at which this agent last copied keys to memcached; zero if it has copied none.
	Copied func() time.Time

	Log *slog.Logger

	start   chan struct{} // there is a request
	place   chan struct{} // has an element while an answer is made: only one may be made at a time
	problem report.Problem

	answered time.Time
	answer   usage.Report
	history  history

	mutex   sync.Mutex
	end     *time.Timer // ends the watch after usage.Patience; nil unless memcached is watched
	session *session    // nil unless memcached sends its log
	copied  time.Time   // when another agent last copied keys, according to the log; at first, when this agent started
}

// New returns a watcher that waits for the first request.
func New(login func(context.Context) (*protocol.Client, error), copied func() time.Time, log *slog.Logger) *Watcher {
	return &Watcher{
		Login: login, Copied: copied, Log: log, start: make(chan struct{}, 1), place: make(chan struct{}, 1),
		copied: time.Now(),
	}
}

// Run watches memcached while there are requests, until the context ends.
func (w *Watcher) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.start:
			w.whileAsked(ctx)
		}
	}
}

func (w *Watcher) whileAsked(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.mutex.Lock()
	w.end = time.AfterFunc(usage.Patience, stop)
	w.mutex.Unlock()
	for pause := leastPause; ctx.Err() == nil; pause = min(2*pause, mostPause) {
		began := time.Now()
		err := w.follow(ctx)
		if time.Since(began) > mostPause {
			pause = leastPause
		}
		w.noteCopy(err, pause)
		if ctx.Err() == nil {
			w.problem.Log(w.Log, "Memcached does not send its log; the observation of its use begins again", err)
			wait(ctx, pause)
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.end = nil
}

// noteCopy records that an agent copies keys, if this ended a session. Until the next session begins, it is unknown
// whether that agent still copies, so the pause counts, too.
func (w *Watcher) noteCopy(err error, pause time.Duration) {
	if errors.Is(err, errCopied) {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.copied = time.Now().Add(pause)
	}
}

// lastCopied returns the time at which keys were last copied to memcached, or may have been.
func (w *Watcher) lastCopied() time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if own := w.Copied(); own.After(w.copied) {
		return own
	}
	return w.copied
}

func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// asked starts the watch after a request, or extends it.
func (w *Watcher) asked() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.end != nil && w.end.Reset(usage.Patience) {
		return
	}
	select {
	case w.start <- struct{}{}:
	default:
	}
}

// Watching returns how many of the connections that watch memcached's log belong to this Watcher.
func (w *Watcher) Watching() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.session == nil {
		return 0
	}
	return 1
}

// ServeHTTP answers with a report.
func (w *Watcher) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	ctx, cancel := context.WithTimeout(request.Context(), within)
	defer cancel()
	if request.URL.RawQuery != usage.WithoutCurve {
		w.asked()
	}
	answer, err := w.report(ctx)
	if err != nil {
		http.Error(response, err.Error(), http.StatusServiceUnavailable)
		return
	}
	response.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(response).Encode(answer) // an error means that the client has disconnected
}

// report returns the answer to a request. It makes only one answer at a time.
func (w *Watcher) report(ctx context.Context) (usage.Report, error) {
	select {
	case w.place <- struct{}{}:
		defer func() { <-w.place }()
	case <-ctx.Done():
		return usage.Report{}, errors.New("too many requests at the same time")
	}
	if !w.answered.IsZero() && time.Since(w.answered) < fresh {
		return w.answer, nil
	}
	now, err := w.read(ctx)
	if err != nil {
		return usage.Report{}, err
	}
	answer := w.history.add(now)
	w.mutex.Lock()
	session := w.session
	w.mutex.Unlock()
	if session != nil {
		session.report(&answer, now)
	}
	w.answered, w.answer = time.Now(), answer
	return answer, nil
}

// read reads memcached's statistics.
func (w *Watcher) read(ctx context.Context) (reading, error) {
	client, err := w.Login(ctx)
	if err != nil {
		return reading{}, err
	}
	defer client.Close()
	asked := time.Now()
	if _, err = client.Ask(ctx, "version\r\n"); err != nil {
		return reading{}, fmt.Errorf("version: %w", err)
	}
	latency := time.Since(asked)
	var all [3]map[string]string
	for i, kind := range []string{"", "items", "slabs"} {
		if all[i], err = client.Stats(ctx, kind); err != nil {
			return reading{}, fmt.Errorf("stats %s: %w", kind, err)
		}
	}
	now := newReading(time.Now(), all[0], all[1], all[2])
	now.latency, now.copied = max(latency.Microseconds(), 1), w.lastCopied()
	return now, nil
}
