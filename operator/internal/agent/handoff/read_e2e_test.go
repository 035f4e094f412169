//go:build e2e

package handoff_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// read returns all items of a memcached by their keys.
func read(t testing.TB, server *memcachedtest.Server) (map[string]handoff.Item, handoff.Unread) {
	t.Helper()
	items := map[string]handoff.Item{}
	unread, err := handoff.Read(t.Context(), dial(server), handoff.Limit(0), func(i handoff.Item) error {
		i.Value = bytes.Clone(i.Value)
		items[string(i.Key)] = i
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return items, unread
}

// add adds items to a memcached.
func add(t testing.TB, server *memcachedtest.Server, items ...handoff.Item) handoff.Added {
	t.Helper()
	a, err := handoff.NewAdder(t.Context(), dial(server))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if err := a.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	added, err := a.Close()
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func TestAllThatIsReadIsAddedAsItWas(t *testing.T) {
	const keys = 3000
	from, to := start(t), start(t)
	fill(t, from, keys)
	c := connect(t, from)
	large := strings.Repeat("x", 900_000)
	c.set(t, "flags", "value", "F4294967295")
	c.set(t, "hour", "value", "T3600")
	c.set(t, "year", "value", fmt.Sprintf("T%d", time.Now().Add(365*24*time.Hour).Unix()))
	c.set(t, "large", large, "T0")
	c.set(t, "empty", "", "T0")
	c.want(t, "ms YSBiDQo= 5 b\r\nvalue", "HD")
	items, unread := read(t, from)
	if unread != (handoff.Unread{}) || len(items) != keys+6 {
		t.Fatalf("%d items are read, others are left out: %+v", len(items), unread)
	}
	var all []handoff.Item
	for _, i := range items {
		all = append(all, i)
	}
	if added := add(t, to, all...); added.Items != keys+6 || added.Kept+added.Refused+added.Expired != 0 {
		t.Fatalf("%+v", added)
	}
	got, _ := read(t, to)
	// Each copy lives up to two seconds shorter than the copied item, and the test takes a moment.
	ignoreTimes := cmpopts.IgnoreFields(handoff.Item{}, "Expires", "Used")
	if diff := cmp.Diff(items, got, ignoreTimes); diff != "" {
		t.Errorf("(-read +added):\n%.3000s", diff)
	}
	for _, key := range []string{"key-1", "hour", "year"} {
		was, is := items[key].Expires, got[key].Expires
		if was == 0 != (is == 0) || is > was || is < was-10 {
			t.Errorf("%s expires at %d, and its copy at %d", key, was, is)
		}
	}
	if used := time.Since(time.Unix(got["hour"].Used, 0)); used < -2*time.Second || used > time.Minute {
		t.Errorf("last used before %s", used)
	}
}

func TestWhatWouldBeWrongIsNotRead(t *testing.T) {
	from := start(t)
	c := connect(t, from)
	c.set(t, "good", "value", "T0")
	c.set(t, "counter", "17", "T0")
	c.set(t, "stale", "value", "T0")
	c.want(t, "md stale I T30", "HD")
	c.set(t, "expiring", "value", "T1")
	storeBinary(t, from, strings.Repeat("a ", 120), "value")
	items, unread := read(t, from)
	unread.Expiring = 0 // by the time of the dump, it may have expired
	if diff := cmp.Diff(handoff.Unread{Numbers: 1, Stale: 1, Unnamed: 1}, unread); diff != "" || len(items) != 1 {
		t.Errorf("%d items (-want +got):\n%s", len(items), diff)
	}
}

func TestReadingIsNoUse(t *testing.T) {
	from := start(t)
	fill(t, from, 10)
	for range 3 {
		read(t, from)
	}
	if answer, _, err := connect(t, from).get("key-1", "h"); err != nil || !strings.Contains(answer, "h0") {
		t.Errorf("after it was read: %q, %v", answer, err)
	}
}

func TestWhatIsNewerIsNotReplaced(t *testing.T) {
	to := start(t)
	connect(t, to).set(t, "a", "newer", "T0")
	now := time.Now().Unix()
	added := add(t, to,
		handoff.Item{Key: []byte("a"), Value: []byte("older")},
		handoff.Item{Key: []byte("b"), Value: []byte("value")},
		handoff.Item{Key: []byte("too large"), Value: make([]byte, 1<<20)},
		handoff.Item{Key: []byte("expired"), Value: []byte("value"), Expires: now - 10},
		handoff.Item{Key: []byte("expiring"), Value: []byte("value"), Expires: now + 1},
	)
	if diff := cmp.Diff(handoff.Added{Items: 2, Bytes: 12, Kept: 1, Refused: 1, Expired: 2}, added); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, value, err := connect(t, to).get("a", ""); err != nil || value != "newer" {
		t.Errorf("%q, %v", value, err)
	}
}

func TestReadingEndsWithAnErrorOfWhoeverTakesTheItems(t *testing.T) {
	from := start(t)
	fill(t, from, 3000)
	full := errors.New("the disk is full")
	_, err := handoff.Read(t.Context(), dial(from), handoff.Limit(0), func(handoff.Item) error { return full })
	if !errors.Is(err, full) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err = handoff.Read(ctx, dial(from), handoff.Limit(1), func(handoff.Item) error { stop(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReadingIsAsFastAsItsLimit(t *testing.T) {
	from := start(t)
	fill(t, from, 1000) // of about 55 bytes
	began, bytes := time.Now(), 0
	_, err := handoff.Read(t.Context(), dial(from), handoff.Limit(100_000), func(i handoff.Item) error {
		bytes += len(i.Key) + len(i.Value)
		return nil
	})
	least := time.Duration(float64(bytes)/100_000*float64(time.Second)) - 100*time.Millisecond
	if took := time.Since(began); err != nil || took < least {
		t.Errorf("%d bytes took %s, want at least %s: %v", bytes, took, least, err)
	}
}

func TestAMemcachedThatEndsIsAnError(t *testing.T) {
	from, to := start(t), start(t)
	fill(t, from, 3000)
	a, err := handoff.NewAdder(t.Context(), dial(to))
	if err != nil {
		t.Fatal(err)
	}
	to.Signal(t, 9)
	<-to.Ended()
	for range 100_000 {
		if err = a.Add(handoff.Item{Key: []byte("a"), Value: []byte("value")}); err != nil {
			break
		}
	}
	if _, closed := a.Close(); closed == nil || err == nil {
		t.Errorf("adding: %v, closing: %v", err, closed)
	}
	_, err = handoff.Read(t.Context(), dial(from), handoff.Limit(0), func(handoff.Item) error {
		from.Signal(t, 9)
		<-from.Ended()
		return nil
	})
	if err == nil {
		t.Error("a part of the items is taken for all")
	}
}

// TestAHandoffSucceedsWhileAllIsRead runs a handoff while Read reads all items, as it does during the save of a
// snapshot. Both list the keys, and memcached makes only one list at a time.
func TestAHandoffSucceedsWhileAllIsRead(t *testing.T) {
	const keys = 50_000
	old, next := start(t), start(t)
	fill(t, old, keys)
	ctx, stop := context.WithCancel(t.Context())
	reads, ended := make(chan struct{}), make(chan error)
	var once sync.Once
	go func() {
		const slow = 100_000 // bytes a second
		_, err := handoff.Read(ctx, dial(old), handoff.Limit(slow), func(handoff.Item) error {
			once.Do(func() { close(reads) })
			return nil
		})
		ended <- err
	}()
	<-reads
	r := run(t, dial(old), dial(next))
	r.copy(t)
	if got := held(t, next, keys); got != keys {
		t.Errorf("%d of %d keys are handed over", got, keys)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("reading took no longer than the handoff: %v", err)
	}
	r.finish(t, old)
}

// TestAHandoffSucceedsWhileOthersListKeys: if a client requests a list in the meantime, its thread of memcached waits
// until the handoff has its own list.
func TestAHandoffSucceedsWhileOthersListKeys(t *testing.T) {
	const keys, threads = 200_000, 4
	old, next := start(t, fmt.Sprintf("--threads=%d", threads)), start(t)
	fill(t, old, keys)
	for range threads {
		c := connect(t, old)
		go func() {
			for {
				line, err := c.ask("lru_crawler metadump hash")
				for err == nil && line != "END" && !strings.HasPrefix(line, "BUSY") {
					line, err = c.reader.ReadString('\n')
					line = strings.TrimSpace(line)
				}
				if err != nil {
					return // The test has ended.
				}
				time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond) // so that others get a list, too
			}
		}()
	}
	r := run(t, dial(old), dial(next))
	r.copy(t)
	if got := held(t, next, keys); got != keys {
		t.Errorf("%d of %d keys are handed over", got, keys)
	}
}
