//go:build e2e

package handoff_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
)

const mib = 1 << 20

// aged is a memcached with keys of several ages: some keys of each step were read later than all keys of the step
// before.
type aged struct {
	*memcachedtest.Server

	steps, each int
}

func startAged(t *testing.T, steps, each, size int, arguments ...string) aged {
	t.Helper()
	a := aged{start(t, arguments...), steps, each}
	for step := range steps {
		a.store(t, step, each, size)
		<-time.After(1100 * time.Millisecond) // Memcached's clock counts seconds.
	}
	return a
}

// store stores the keys of a step, and reads each so often that memcached counts it as used.
func (a aged) store(t *testing.T, step, keys, size int) {
	t.Helper()
	c := connect(t, a.Server)
	value := strings.Repeat("x", size)
	c.pipeline(t, keys, func(n int) string { return fmt.Sprintf("ms step-%d-%d %d q\r\n%s\r\n", step, n, size, value) })
	for range 3 {
		c.pipeline(t, keys, func(n int) string { return fmt.Sprintf("mg step-%d-%d q\r\n", step, n) })
	}
}

// kept returns how many of the keys of a step a memcached has, in percent.
func (a aged) kept(t *testing.T, step int, in *memcachedtest.Server) int {
	t.Helper()
	hits := connect(t, in).pipeline(t, a.each, func(n int) string { return fmt.Sprintf("mg step-%d-%d s q\r\n", step, n) })
	return 100 * hits / a.each
}

// pipeline sends commands that memcached answers only for a hit, and returns the number of answers.
func (c *client) pipeline(t *testing.T, count int, command func(n int) string) (answers int) {
	t.Helper()
	const most = mib
	for n := 0; n < count; {
		var commands strings.Builder
		for ; n < count && commands.Len() < most; n++ {
			commands.WriteString(command(n))
		}
		line, err := c.ask(commands.String() + "mn")
		for ; err == nil && line != "MN"; line, err = c.line() {
			answers++
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return answers
}

func (c *client) line() (string, error) {
	line, err := c.reader.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// under returns a function that runs a handoff. It calls settings just before the handoff begins, because the settings
// may depend on the time.
func under(settings func() handoff.Settings) func(context.Context, *handoff.Handoff) error {
	return func(ctx context.Context, h *handoff.Handoff) error {
		h.Settings = settings()
		return h.Run(ctx)
	}
}

func until(rate int64, limit time.Duration) func() handoff.Settings {
	return func() handoff.Settings { return handoff.Settings{Rate: rate, Until: time.Now().Add(limit)} }
}

// TestTheHottestKeysAreCopiedIfTheTimeDoesNotSuffice: the copy is then faster than Settings.Rate allows.
func TestTheHottestKeysAreCopiedIfTheTimeDoesNotSuffice(t *testing.T) {
	const steps, each, size = 4, 8000, 500 // 16 MB
	tests := map[string]struct {
		settings func() handoff.Settings
		network  int
		busy     bool
	}{
		"the network is slower":          {until(16*mib, 12*time.Second), mib, false},
		"most of it is what has changed": {until(2*mib, 13*time.Second), 64 * mib, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := startAged(t, steps, each, size), start(t)
			if tc.busy {
				change(t, old.Server, 100_000)
			}
			r := begin(t, dial(old.Server), throttled(next, tc.network), under(tc.settings))
			r.copy(t)
			if got := old.kept(t, steps-1, next); got < 95 {
				t.Errorf("%d %% of the hottest keys are copied; %+v", got, r.Progress())
			}
			if got := r.Progress(); got.Skipped == 0 {
				t.Errorf("nothing is left out: %+v", got)
			}
		})
	}
}

// TestAListThatWouldTakeTooLongIsEndedInTime: the hottest of the keys that are listed by then are copied.
func TestAListThatWouldTakeTooLongIsEndedInTime(t *testing.T) {
	t.Parallel()
	const cold, hot, limit = 80_000, 4000, 12 * time.Second
	old, next := aged{start(t), 1, hot}, start(t)
	fill(t, old.Server, cold)
	<-time.After(2 * time.Second)
	old.store(t, 0, hot, 10)
	ends := time.Now().Add(limit)
	r := begin(t, slowToRead(old.Server, mib), dial(next), under(until(4*mib, limit)))
	r.copy(t)
	if late := time.Since(ends); late > 0 {
		t.Errorf("complete %s too late; %+v", late, r.Progress())
	}
	got := r.Progress()
	if hottest := old.kept(t, 0, next); hottest < 25 {
		t.Errorf("%d %% of the hottest keys are copied; %+v", hottest, got)
	}
	if all := got.Keys + got.Skipped; all < (cold+hot)*9/10 || all > (cold+hot)*11/10 {
		t.Errorf("%d keys are copied or counted as left out, of %d", all, cold+hot)
	}
}

// change starts a client that changes large values until the test ends.
func change(t *testing.T, server *memcachedtest.Server, size int) {
	t.Helper()
	c := connect(t, server)
	value := strings.Repeat("y", size)
	go func() {
		for n := 0; t.Context().Err() == nil; n++ {
			if _, err := c.ask(fmt.Sprintf("ms changing-%d %d T0\r\n%s", n%40, size, value)); err != nil {
				return
			}
			<-time.After(30 * time.Millisecond)
		}
	}()
}

// TestManyKeysOfOneAgeDoNotKeepTheHottestFromBeingCopied: a job stored them, and nobody has read them since.
func TestManyKeysOfOneAgeDoNotKeepTheHottestFromBeingCopied(t *testing.T) {
	t.Parallel()
	const cold, hot = 40_000, 4000
	old, next := aged{start(t), 2, hot}, start(t)
	old.store(t, 0, cold, 500)
	<-time.After(2 * time.Second)
	old.store(t, 1, hot, 500)
	r := begin(t, dial(old.Server), throttled(next, mib), under(until(4*mib, 12*time.Second)))
	r.copy(t)
	if got := old.kept(t, 1, next); got < 95 {
		t.Errorf("%d %% of the hottest keys are copied; %+v", got, r.Progress())
	}
}

// TestAHurryIntoLessMemoryKeepsTheHottestKeys: because the hottest keys are copied first, memcached would also evict
// them first. So only as many keys are copied as surely fit.
func TestAHurryIntoLessMemoryKeepsTheHottestKeys(t *testing.T) {
	t.Parallel()
	const steps, each, size = 5, 16_000, 600
	old, next := startAged(t, steps, each, size, "--memory-limit=64"), start(t, "--memory-limit=24")
	r := begin(t, dial(old.Server), dial(next), under(until(3*mib, 13*time.Second)))
	r.copy(t)
	if got := old.kept(t, steps-1, next); got < 95 {
		t.Errorf("%d %% of the hottest keys are copied; %+v", got, r.Progress())
	}
}

// TestACopyIsCompleteInTime: only little is still in progress when the time ends.
func TestACopyIsCompleteInTime(t *testing.T) {
	tests := map[string]struct {
		keys, size, network int
		writers             int
	}{
		"large values":             {600, 900_000, 8 * mib, 0},
		"clients change many keys": {50_000, 100, 4 * mib, 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 12 * time.Second
			old, next := aged{start(t), 1, tc.keys}, start(t)
			old.store(t, 0, tc.keys, tc.size)
			for range tc.writers {
				overwrite(t, old.Server, 5000)
			}
			ends := time.Now().Add(limit)
			r := begin(t, dial(old.Server), throttled(next, tc.network), under(until(16*mib, limit)))
			r.copy(t)
			if late := time.Since(ends); late > 0 {
				t.Errorf("complete %s too late; %+v", late, r.Progress())
			}
		})
	}
}

// overwrite starts a client that changes keys as fast as it can until the test ends.
func overwrite(t *testing.T, server *memcachedtest.Server, keys int) {
	t.Helper()
	c := connect(t, server)
	value := strings.Repeat("y", 2000)
	go func() {
		for n := 0; t.Context().Err() == nil; n++ {
			if _, err := c.ask(fmt.Sprintf("ms step-0-%d %d T0\r\n%s", n%keys, len(value), value)); err != nil {
				return
			}
		}
	}()
}

// TestTheEndCountsFromTheInstruction: the time for the copy begins with the instruction, even if the old Pod could not
// be reached for some seconds.
func TestTheEndCountsFromTheInstruction(t *testing.T) {
	t.Parallel()
	const within, unreachable = 12 * time.Second, 4 * time.Second
	old, next := startAged(t, 2, 15_000, 500), start(t)
	ends, copied := time.Now().Add(within), make(chan struct{})
	h := &handoff.Handoff{
		Move:     handoff.Whole(dial(old.Server), throttled(next, mib)),
		Settings: handoff.Settings{Rate: mib, Within: within},
		Copied:   func() { close(copied) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		_ = new(report.Tracker).Copy(ctx, h, func(ctx context.Context) error { return handoff.Wait(ctx, unreachable) })
		close(done)
	}()
	defer func() { stop(); <-done }()
	<-copied
	if late := time.Since(ends); late > 0 || h.Progress().Keys == 0 {
		t.Errorf("%s after the end; %+v", late, h.Progress())
	}
}

// TestAnItemDoesNotOutliveItsTimeOnASlowNetwork: on such a network, an item waits for many others.
func TestAnItemDoesNotOutliveItsTimeOnASlowNetwork(t *testing.T) {
	t.Parallel()
	const keys, size, ttl = 20, 900_000, 10
	old, next := start(t), start(t)
	c := connect(t, old)
	for n := range keys {
		c.set(t, fmt.Sprintf("key-%d", n), strings.Repeat("x", size), fmt.Sprintf("T%d", ttl))
	}
	expired := time.Now().Add((ttl + 2) * time.Second) // a written item takes a second to arrive
	run(t, dial(old), throttled(next, mib)).copy(t)
	<-time.After(time.Until(expired))
	if got := held(t, next, keys); got > 0 {
		t.Errorf("the new memcached has %d items that have expired", got)
	}
}
