//go:build e2e

package snapshot

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// overtaken is the store of an attempt that another one overtakes before its first object, and that is killed before
// its second one.
type overtaken struct {
	*memory
	overtake func()
}

func (o *overtaken) Create(ctx context.Context, name string, size int64) (io.WriteCloser, error) {
	if o.overtake == nil {
		return nil, errKilled
	}
	o.overtake()
	o.overtake = nil
	return o.memory.Create(ctx, name, size)
}

// TestAnAttemptThatWasOvertakenHarmsNoSnapshot: its Node was lost, and it still writes.
func TestAnAttemptThatWasOvertakenHarmsNoSnapshot(t *testing.T) {
	servers, store := cache(t, 1), newMemory()
	fill(t, servers[0], 0)
	save := func(to Store) error {
		s := &Save{Store: to, Name: "daily", Cache: "shop", Servers: servers, Once: true, Pace: handoff.Limit(0)}
		_, err := s.Run(t.Context())
		return err
	}
	lost := &overtaken{memory: store, overtake: func() {
		if err := save(store); err != nil {
			t.Error(err)
		}
	}}
	if err := save(lost); !errors.Is(err, errKilled) {
		t.Fatalf("the attempt that was overtaken: %v", err)
	}
	v := &Verify{Store: store, Name: "daily"}
	if _, err := v.Run(t.Context()); err != nil {
		t.Errorf("of the snapshot that was reported as saved: %v", err)
	}
}
