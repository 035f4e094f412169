//go:build e2e

package handoff_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/consistency"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

var writes = flag.Int("writes", 2000, "writes per second while keys are handed over")

// promised is for how long clients may still read a value after a later write of the same key was completed. After the
// end of the old memcached, they must not read such a value at all.
const promised = 100 * time.Millisecond

const (
	modelKeys = 1000
	workers   = 8
	untouched = 20000
)

// model is what clients wrote and read: every write of a key has a higher version than the one before it.
type model struct {
	consistency.History

	keys   [modelKeys]modelKey
	bound  atomic.Int64 // like promised, as a time.Duration
	stop   chan struct{}
	both   atomic.Bool // clients write to both memcacheds
	copied atomic.Bool // the new memcached may be read
	ended  atomic.Bool // the old memcached accepts no more writes
	writes atomic.Int64
	hits   [2]atomic.Int64
}

type modelKey struct {
	writing sync.Mutex // one write at a time, in either memcached
	last    int        // version
}

// write stores or deletes a random key.
func (m *model) write(choose chooser) error {
	name := rand.IntN(modelKeys)
	k := &m.keys[name]
	k.writing.Lock()
	defer k.writing.Unlock()
	k.last++
	a := consistency.Access{Key: fmt.Sprintf("model-%d", name), Writes: true, Began: time.Now()}
	request := "delete " + a.Key
	if rand.IntN(5) > 0 {
		a.Value = fmt.Sprintf("v%d", k.last)
		request = fmt.Sprintf("set %s 0 0 %d\r\n%s", a.Key, len(a.Value), a.Value)
	}
	_, err := choose(a.Key).ask(request)
	a.Ended = time.Now()
	if err != nil {
		a.Error = err.Error()
	}
	m.Add(a)
	if err == nil {
		m.writes.Add(1)
	}
	return err
}

// read reads a key.
func (m *model) read(choose chooser, side, name int) error {
	if side == 1 && !m.copied.Load() {
		return nil
	}
	a := consistency.Access{
		Key: fmt.Sprintf("model-%d", name), Stale: time.Duration(m.bound.Load()), Began: time.Now(),
	}
	answer, value, err := choose(a.Key).get(a.Key, "")
	if err != nil || !strings.HasPrefix(answer, "VA") {
		return err
	}
	a.Value, a.Ended = value, time.Now()
	m.hits[side].Add(1)
	m.Add(a)
	return nil
}

// chooser returns the connection to the memcached that has a key.
type chooser func(key string) *client

func only(c *client) chooser { return func(string) *client { return c } }

// newModel stores the first version of each key.
func newModel(t *testing.T, first chooser) *model {
	t.Helper()
	m := &model{stop: make(chan struct{})}
	for name := range modelKeys {
		a := consistency.Access{Key: fmt.Sprintf("model-%d", name), Writes: true, Value: "v0", Began: time.Now()}
		first(a.Key).set(t, a.Key, a.Value, "T0")
		a.Ended = time.Now()
		m.Add(a)
	}
	m.bound.Store(int64(promised))
	return m
}

// work lets clients of both memcacheds read and write until the model stops. They write to both even before all keys
// are copied, but read from the new memcached only after that. When the old memcached ends, its clients move to the new
// one.
func (m *model) work(t *testing.T, group *sync.WaitGroup, connect func() [2]chooser) {
	t.Helper()
	for range workers {
		clients := connect()
		group.Go(func() {
			ticker := time.NewTicker(time.Second * workers / time.Duration(*writes))
			defer ticker.Stop()
			for {
				select {
				case <-m.stop:
					return
				case <-ticker.C:
				}
				side := 0
				if m.ended.Load() || m.both.Load() && rand.IntN(2) == 0 {
					side = 1
				}
				err := m.write(clients[side])
				if err == nil {
					err = m.read(clients[1-side], 1-side, rand.IntN(modelKeys))
				}
				if err == nil {
					err = m.read(clients[side], side, rand.IntN(modelKeys))
				}
				if err != nil {
					m.ended.Store(true)
				}
			}
		})
	}
}

func TestNoReadIsStaleWhileClientsUseBoth(t *testing.T) {
	kept := judgeBoth(t, 64<<20, func() handoff.Settings {
		return handoff.Settings{Rate: 1 << 20} // so that many keys change in the meantime
	})
	if kept < untouched*995/1000 {
		t.Errorf("%d of %d keys that nobody touched are in the new memcached", kept, untouched)
	}
}

func TestNoReadIsStaleIfTheTimeDoesNotSuffice(t *testing.T) {
	kept := judgeBoth(t, 1<<18, until(16<<20, 12*time.Second))
	if kept == 0 || kept == untouched {
		t.Errorf("%d of %d keys that nobody touched are in the new memcached", kept, untouched)
	}
}

// judgeBoth fails the test if a client reads an outdated value while it uses both memcacheds. It returns how many of
// the keys that no client touched are kept.
func judgeBoth(t *testing.T, network int, settings func() handoff.Settings) (kept int) {
	t.Helper()
	old, next := start(t), start(t)
	fill(t, old, untouched)
	m := newModel(t, only(connect(t, old)))
	var group sync.WaitGroup
	m.work(t, &group, func() [2]chooser { return [2]chooser{only(connect(t, old)), only(connect(t, next))} })
	stop := sync.OnceFunc(func() { close(m.stop); group.Wait() })
	t.Cleanup(stop)

	started := time.Now()
	r := begin(t, dial(old), throttled(next, network), under(settings))
	gomega.NewWithT(t).Eventually(func() int64 { return r.Progress().Keys }).WithTimeout(2 * time.Minute).
		WithPolling(time.Millisecond).Should(gomega.BeNumerically(">", 0))
	m.both.Store(true) // because the handoff watches both now
	r.copy(t)
	m.copied.Store(true)
	copied := time.Since(started)
	<-time.After(3 * time.Second) // the overlap
	if err := handoff.End(t.Context(), dial(old)); err != nil {
		t.Fatal(err)
	}
	old.Signal(t, syscall.SIGUSR1)
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	m.bound.Store(0)
	<-time.After(time.Second)
	stop()
	last := only(connect(t, next))
	for name := range modelKeys {
		if err := m.read(last, 1, name); err != nil {
			t.Fatal(err)
		}
	}
	kept = held(t, next, untouched)
	violations, oldest := m.judge(t)
	t.Logf("copied in %s; %d writes; hits old %d, new %d; values up to %s old; kept %d of %d; %+v",
		copied.Round(time.Millisecond), m.writes.Load(), m.hits[0].Load(), m.hits[1].Load(), oldest, kept, untouched, r.Progress())
	for _, violation := range violations {
		t.Errorf("a client read an outdated value: %s", violation)
	}
	if m.hits[0].Load() == 0 || m.hits[1].Load() == 0 {
		t.Error("no client read a value")
	}
	return kept
}

func (m *model) judge(t *testing.T) ([]consistency.Violation, time.Duration) {
	t.Helper()
	violations, err := consistency.Judge(m.Accesses())
	if err != nil {
		t.Fatal(err)
	}
	oldest, err := consistency.Oldest(m.Accesses(), promised)
	if err != nil {
		t.Fatal(err)
	}
	return violations, oldest
}
