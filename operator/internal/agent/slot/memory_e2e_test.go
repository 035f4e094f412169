//go:build e2e

package slot

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// TestACopyWaitsForTheMemory: until memcached has the memory that it is to have, it could not store all keys.
func TestACopyWaitsForTheMemory(t *testing.T) {
	from, to := memcachedtest.Start(t, watched), memcachedtest.Start(t, watched)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	asked := 0
	m := &Memcached{
		Own: handoff.Server{Address: to.Address}.Dial, Log: slog.New(slog.DiscardHandler),
		Peer: func(string) handoff.Dial { return handoff.Server{Address: from.Address}.Dial },
		Give: func(_ context.Context, bytes int64) error {
			if asked++; bytes != 1<<30 || asked < 3 {
				return errors.New("not yet")
			}
			return nil
		},
	}
	order := instruction.Instruction{Role: instruction.Receive, From: "10.0.0.1", Memory: 1 << 30}
	err := m.Copy(ctx, order, stop)
	if asked != 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("copied after the memory was requested %d times: %v", asked, err)
	}
}

// watched are options with which an agent can follow the changes.
const watched = "--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384"
