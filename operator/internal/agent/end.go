package agent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/slot"
)

const (
	// endTimeout limits one attempt. The kubelet limits all of them: it ends memcached leaveSeconds after the drain.
	endTimeout = 5 * time.Second

	endInterval = 200 * time.Millisecond
)

// End waits, and then makes memcached send its log to the end, and exit. It is the preStop hook of a Pod with a slot:
// the kubelet shows no new annotation to a Pod that is being deleted, so that the operator cannot ask the agent for it.
// It returns nil, too, if memcached does not run any more.
func End(ctx context.Context, options *Options, log *slog.Logger) error {
	if err := options.Validate(); err != nil {
		return err
	}
	own := func(ctx context.Context) (net.Conn, error) {
		return options.dial(ctx, handoff.Server{Address: options.MemcachedAddress})
	}
	end := func(ctx context.Context) error { return endMemcached(ctx, own, options.Proc) }
	engine := &slot.Memcached{Own: own, Signal: end, Log: log}
	if err := sleep(ctx, options.EndAfter); err != nil {
		return err
	}
	for {
		attempt, cancel := context.WithTimeout(ctx, endTimeout)
		err := engine.End(attempt)
		cancel()
		if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		if sleep(ctx, endInterval) != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration):
		return nil
	}
}
