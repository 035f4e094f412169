// Package bootstrap fills a new cache with the keys of memcacheds outside of it, by the command `agent bootstrap` in a
// separate Pod. It copies all keys. It copies a key again when a client changes it in those memcacheds, until the
// operator lets clients use the cache. From then on, it keeps both sides consistent while clients move to the cache.
//
// Data flows one way: Options and mounted Secrets become a handoff.Move, the phase in the downward API file begins the
// move and later lets its copy end, and the probes, the log, the metrics and the exit code report how far the move is.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/operator/internal/agent/endpoint"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// interval is how often the file with the phase is read. The kubelet updates it within a few hundred milliseconds.
const interval = 200 * time.Millisecond

// bootstrap is the state of a run.
type bootstrap struct {
	options *Options
	log     *slog.Logger
	tracker report.Tracker

	unread report.Problem

	followed, copied atomic.Bool
}

// Run copies the keys, and keeps both sides consistent, until the context ends. It returns a report.Failed if the
// handoff fails.
func Run(ctx context.Context, options *Options, version string, log *slog.Logger) error {
	if err := options.Validate(); err != nil {
		return err
	}
	move, err := options.move()
	if err != nil {
		return err
	}
	b := &bootstrap{options: options, log: log}
	samples := func(context.Context) []exporter.Sample {
		return append(endpoint.Program(version, options.Restarts), b.tracker.Samples()...)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return endpoint.Serve(ctx, options.MetricsAddress, endpoint.Metrics(samples)) })
	group.Go(func() error { return endpoint.Serve(ctx, options.ProbeAddress, b.probes()) })
	group.Go(func() error { return b.run(ctx, move) })
	return group.Wait()
}

// wasCopied reports whether an earlier start of the container recorded that clients may use the cache.
func wasCopied(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (b *bootstrap) run(parent context.Context, move handoff.Move) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	phase, err := b.awaits(ctx, instruction.PhaseFollow)
	if err != nil {
		return nil //nolint:nilerr // The program has to end.
	}
	h := &handoff.Handoff{Move: move, Settings: handoff.Settings{Rate: b.options.BytesPerSecond}, Log: b.log}
	if phase == instruction.PhaseMoved || wasCopied(b.options.StateFile) {
		b.followed.Store(true)
		b.log.Warn("Clients may use both sides already, so all keys are removed from both, and nothing is copied")
		h.Copied = func() {
			b.copied.Store(true)
			b.log.Info("Both sides are kept consistent again")
		}
		err = b.tracker.Resume(ctx, h)
	} else {
		h.Hold, h.Followed, h.Copied = b.hold(ctx), b.follow, func() {
			if err := b.cutOver(); err != nil {
				stop(err)
			}
		}
		err = b.tracker.Copy(ctx, h, func(ctx context.Context) error { return reach(ctx, move.Servers) })
	}
	switch {
	case parent.Err() != nil, err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &report.Failed{Err: b.hinted(err)}
}

// follow records that the cache has all keys.
func (b *bootstrap) follow() {
	b.followed.Store(true)
	b.log.Info("The cache has all keys, and keys that clients change are copied again")
}

// cutOver records that clients may use the cache. If it can't record this, clients must not use the cache, because
// after a restart, the program would copy all keys again and overwrite the changes by clients.
func (b *bootstrap) cutOver() error {
	if b.options.StateFile != "" {
		if err := os.WriteFile(b.options.StateFile, []byte("copied\n"), 0o600); err != nil {
			return fmt.Errorf("--state-file cannot be written, so clients must not use the cache yet: %w", err)
		}
	}
	b.copied.Store(true)
	b.log.Info("Clients may use the cache, and both sides are kept consistent")
	return nil
}

// hold returns a channel that is closed when the phase says that clients are to use the cache.
func (b *bootstrap) hold(ctx context.Context) <-chan struct{} {
	hold := make(chan struct{})
	go func() {
		if _, err := b.awaits(ctx, instruction.PhaseCutOver); err == nil {
			close(hold)
		}
	}()
	return hold
}

// awaits waits until the phase is the wanted one or a later one, and returns the phase.
func (b *bootstrap) awaits(ctx context.Context, wanted instruction.Phase) (instruction.Phase, error) {
	for {
		phase := b.phase()
		if !phase.IsBefore(wanted) {
			return phase, nil
		}
		if err := handoff.Wait(ctx, interval); err != nil {
			return phase, err
		}
	}
}

// phase reads the phase. A phase that cannot be read is PhaseNone.
func (b *bootstrap) phase() instruction.Phase {
	if b.options.PhaseFile == "" {
		return instruction.PhaseCutOver
	}
	content, err := os.ReadFile(b.options.PhaseFile)
	b.unread.Log(b.log, "The phase cannot be read yet", err)
	return instruction.Phase(strings.TrimSpace(string(content)))
}

func (b *bootstrap) probes() http.Handler {
	mux := endpoint.Probes(unless(&b.followed, "the keys are being copied"))
	mux.HandleFunc("GET /ready", endpoint.Answer(unless(&b.copied, "clients must not use the cache yet")))
	return mux
}

func unless(done *atomic.Bool, reason string) func() error {
	return func() error {
		if done.Load() {
			return nil
		}
		return errors.New(reason)
	}
}

// hints has, for each reason of a failure that an old server causes, the advice for the user.
var hints = map[string]string{
	handoff.DumpForbidden: "start it without -X and -W and with its LRU crawler, or begin with an empty cache",
	handoff.OldTooOld:     "update it to 1.6.20 or later, or begin with an empty cache",
	handoff.LogLinesLost: "its log is too slow for its clients: begin when clients send fewer requests, or, with " +
		"memcached 1.6.40 or later, start it with --extended=worker_logbuf_size=8192,watcher_logbuf_size=16384",
	handoff.OldUnreachable: "check its address, and that firewalls and its --listen allow the Pod of the bootstrap",
	handoff.SameServer: "name only servers that do not belong to this cache, because the keys of such a " +
		"server would be removed",
	peer.LoginRefused: "set a user of this server in the Secret for this server",
	peer.ServerCertificateUnknown: "set the CA of this server in ca.crt of the Secret for this server, " +
		"and list the server by a name that is in its certificate",
	peer.ClientCertificateRefused: "set tls.crt and tls.key in the Secret for this server, signed by a CA that this " +
		"server accepts",
}

// hinted adds a hint to a failure.
func (b *bootstrap) hinted(err error) error {
	var failure *handoff.Failure
	if !errors.As(err, &failure) {
		return err
	}
	hinted := *failure
	if hint := hints[failure.Reason]; hint != "" && slices.Contains(b.options.From, failure.Server) {
		hinted.Err = fmt.Errorf("%w: %s", failure.Err, hint)
	}
	return &hinted
}
