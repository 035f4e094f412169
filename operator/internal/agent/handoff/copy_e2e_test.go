//go:build e2e

package handoff_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestItemsSurviveBitForBit(t *testing.T) {
	old, next := start(t, "--max-item-size=4m"), start(t, "--max-item-size=4m")
	random := make([]byte, 3<<20)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	later := fmt.Sprintf("T%d", time.Now().Add(twoMonths).Unix())
	items := map[string]struct{ key, value, flags, want string }{
		"text":                          {"text", "hello", "T0", "VA 5 t-1 f0"},
		"no value":                      {"empty", "", "T0", "VA 0 t-1 f0"},
		"line ends":                     {"lines", "NS Om\r\nEN\r\n\r\n", "T0", "VA 13 t-1 f0"},
		"client flags":                  {"flags", "x", "T0 F4294967295", "VA 1 t-1 f4294967295"},
		"a long life":                   {"months", "x", later, "VA 1 t* f0"},
		"a short life":                  {"hour", "x", "T3600", "VA 1 t* f0"},
		"a value of 1 MiB":              {"mebi", string(random[:1<<20]), "T0", "VA 1048576 t-1 f0"},
		"a value of 3 MiB":              {"big", string(random), "T0", "VA 3145728 t-1 f0"},
		"a key of 250 bytes":            {strings.Repeat("k", 250), "x", "T0", "VA 1 t-1 f0"},
		"a binary key":                  {base64.StdEncoding.EncodeToString([]byte("a b\r\n\x00\xff")), "x", "b T0", "VA 1 t-1 f0"},
		"a key with special characters": {"a/b?c=%20&\xfe\t", "x", "T0", "VA 1 t-1 f0"},
		"a number":                      {"number", "12", "T0", "EN"},
		"a number that was decremented": {"less", "9 ", "T0", "EN"},
		"digits that are no number":     {"digits", strings.Repeat("7", 30), "T0", "VA 30 t-1 f0"},
		"about to expire":               {"soon", "x", "T1", "EN"},
		"stale":                         {"stale", "x", "T0", "EN"},
	}
	client := connect(t, old)
	for _, item := range items {
		client.set(t, item.key, item.value, item.flags)
	}
	client.want(t, "md stale I", "HD")
	r := run(t, dial(old), dial(next))
	r.copy(t)
	client = connect(t, next)
	for name, item := range items {
		flags := "t f"
		if strings.HasPrefix(item.flags, "b ") {
			flags = "b t f"
		}
		answer, value, err := client.get(item.key, flags)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(item.want, "t*") {
			checkLife(t, life(t, client, item.key), item.flags)
			answer = item.want
		}
		if diff := cmp.Diff(item.want, answer); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if item.want != "EN" && value != item.value {
			t.Errorf("%s: another value of %d bytes", name, len(value))
		}
	}
	if got := r.Progress(); got.Skipped < 3 || got.Keys != 12 {
		t.Errorf("progress %+v", got)
	}
	r.finish(t, old)
}

// TestWhatIncrTakesForANumberIsNotCopied also checks that all other values are copied.
func TestWhatIncrTakesForANumberIsNotCopied(t *testing.T) {
	values := []string{
		"0", "12", "007", "9 ", " 5", "+5", "18446744073709551615", "5 apples", "7\tx", "7\nx", "7\v", "7\x00abc", "5\r\n6",
		"-0", strings.Repeat(" ", 3000) + "5", strings.Repeat("0", 3000) + "5", "5" + strings.Repeat(" ", 9000),
		"5apples", "5.5", "2026-11-28 10:00", "apples 5", "- 5", "{}", strings.Repeat("7", 30), "five", "\x005", "5_000",
	}
	reference, old, next := start(t), start(t), start(t)
	incremented, stored := connect(t, reference), connect(t, old)
	for n, value := range values {
		incremented.set(t, fmt.Sprintf("key-%d", n), value, "T0")
		stored.set(t, fmt.Sprintf("key-%d", n), value, "T0")
	}
	run(t, dial(old), dial(next)).copy(t)
	copied := connect(t, next)
	for n, value := range values {
		incr, err := incremented.ask(fmt.Sprintf("incr key-%d 1", n))
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := copied.get(fmt.Sprintf("key-%d", n), "")
		if isText := strings.HasPrefix(incr, "CLIENT_ERROR"); err != nil || isText != (got == value) {
			t.Errorf("%.40q: incr answers %q, and %.40q is copied (%v)", value, incr, got, err)
		}
	}
}

// life returns the time to live of an item.
func life(t *testing.T, c *client, key string) (ttl int) {
	t.Helper()
	answer, err := c.ask("mg " + key + " t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(answer, "HD t%d", &ttl); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	return ttl
}

// twoMonths is too long for a time to live in seconds: memcached takes such a large number for a Unix time.
const twoMonths = 60 * 24 * time.Hour

// checkLife fails the test unless the time to live is about an hour if the flags are T3600, and about two months
// otherwise.
func checkLife(t *testing.T, ttl int, flags string) {
	t.Helper()
	want := 3600
	if flags != "T3600" {
		want = int(twoMonths.Seconds())
	}
	if ttl < want-30 || ttl > want {
		t.Errorf("%s lives for %d s", flags, ttl)
	}
}

func TestManyKeysAreCopied(t *testing.T) {
	const count = 100000
	old, next := start(t), start(t)
	fill(t, old, count)
	r := run(t, dial(old), dial(next))
	r.copy(t)
	if got := held(t, next, count); got != count {
		t.Errorf("%d of %d keys", got, count)
	}
	if got := r.Progress(); got.Keys != count || got.TotalKeys != count || !got.Copied {
		t.Errorf("progress %+v", got)
	}
	r.finish(t, old)
}
