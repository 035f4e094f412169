//go:build e2e

package snapshot

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// overtaken is the store of an attempt to save. Just before this attempt writes its first object, another attempt makes
// the whole snapshot. This attempt is killed before it writes its second object.
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

func (o *overtaken) Add(ctx context.Context, name string, content []byte) error {
	if o.overtake == nil {
		return errKilled
	}
	return o.memory.Add(ctx, name, content)
}

// TestAnAttemptThatWasOvertakenHarmsNoSnapshot: for example, the Node of the attempt was lost, another Pod made the
// snapshot, and the attempt still writes.
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

// slow is the store of an attempt to save. Just before this attempt writes its manifest, another attempt makes the
// whole snapshot.
type slow struct {
	*memory
	overtake func()
}

func (s *slow) Add(ctx context.Context, name string, content []byte) error {
	s.overtake()
	return s.memory.Add(ctx, name, content)
}

func TestOfTwoAttemptsOneIsTheSnapshot(t *testing.T) {
	servers := cache(t, 2)
	for sentence, tc := range map[string]struct {
		first, second *Save  // first ends before second
		want          string // the error of second; empty: it reports the snapshot of first
	}{
		"the attempts of one Job": {&Save{Owner: "a", Once: true}, &Save{Owner: "a", Once: true}, ""},
		"of two owners":           {&Save{Owner: "a", Once: true}, &Save{Owner: "b", Once: true}, `It was made for the owner "a", and not for the owner "b"`},
		"by hand":                 {&Save{}, &Save{}, `the snapshot "daily" exists`},
	} {
		t.Run(sentence, func(t *testing.T) {
			store := newMemory()
			save := func(s *Save, to Store) (format.Manifest, error) {
				s.Store, s.Name, s.Cache, s.Servers, s.Pace = to, "daily", "shop", servers, handoff.Limit(0)
				return s.Run(t.Context())
			}
			var first format.Manifest
			second, err := save(tc.second, &slow{memory: store, overtake: func() {
				var err error
				if first, err = save(tc.first, store); err != nil {
					t.Error(err)
				}
			}})
			if tc.want == "" && (err != nil || second.Snapshot != first.Snapshot) {
				t.Errorf("%v, and the snapshot %s in place of %s", err, second.Snapshot, first.Snapshot)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			v := &Verify{Store: store, Name: "daily"}
			if whole, err := v.Run(t.Context()); err != nil || whole.Snapshot != first.Snapshot || len(store.objects) != 3 {
				t.Errorf("%v: the snapshot is %s, and not %s, of %d objects", err, whole.Snapshot, first.Snapshot, len(store.objects))
			}
		})
	}
}

// lostAnswer is a store that adds an object, but answers that the object exists already. This happens if the answer to
// a request is lost, and the library repeats the request.
type lostAnswer struct{ *memory }

func (l lostAnswer) Add(ctx context.Context, name string, content []byte) error {
	return errors.Join(l.memory.Add(ctx, name, content), ErrExists)
}

func TestASaveWhoseAnswerWasLostIsWhole(t *testing.T) {
	store := newMemory()
	s := &Save{Store: lostAnswer{store}, Name: "daily", Servers: cache(t, 1), Pace: handoff.Limit(0)}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Verify{Store: store, Name: "daily"}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}
