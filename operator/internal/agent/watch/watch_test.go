package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// fake is a memcached that answers what the agent asks.
type fake struct {
	mutex       sync.Mutex
	down        error
	old         bool // cannot log deletions
	answers     map[string]string
	watching    []net.Conn
	connections int
}

func (f *fake) login(context.Context) (*protocol.Client, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	f.connections++
	client, server := net.Pipe()
	go f.serve(server)
	return protocol.New(client), nil
}

func (f *fake) serve(connection net.Conn) {
	defer connection.Close()
	commands := bufio.NewScanner(connection)
	for commands.Scan() {
		f.mutex.Lock()
		answer := f.answers[strings.TrimSpace(commands.Text())] + "END\r\n"
		if strings.HasPrefix(commands.Text(), "watch ") {
			answer = "OK\r\n"
			if f.old && strings.Contains(commands.Text(), "deletions") {
				answer = "ERROR\r\n"
			} else {
				f.watching = append(f.watching, connection)
			}
		}
		f.mutex.Unlock()
		_, _ = connection.Write([]byte(answer))
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for i, watching := range f.watching {
		if watching == connection {
			f.watching = append(f.watching[:i], f.watching[i+1:]...)
			break
		}
	}
}

// log sends lines to all connections that watch.
func (f *fake) log(t *testing.T, lines string) {
	t.Helper()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.watching) != 1 {
		t.Fatalf("%d connections watch", len(f.watching))
	}
	_, _ = f.watching[0].Write([]byte(lines))
}

func (f *fake) watchers() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.watching)
}

func (f *fake) becomes(down error, answers map[string]string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.down, f.answers = down, answers
	if down != nil {
		for _, watching := range f.watching {
			_ = watching.Close()
		}
	}
}

func statistics(hits, misses, evicted, age int) map[string]string {
	return map[string]string{
		"stats": fmt.Sprintf("STAT pid 7\r\nSTAT limit_maxbytes 67108864\r\nSTAT get_hits %d\r\nSTAT get_misses %d\r\nSTAT curr_connections 3\r\n", hits, misses),
		"stats items": fmt.Sprintf("STAT items:1:evicted %d\r\nSTAT items:1:evicted_time %d\r\n"+
			"STAT items:2:evicted 5\r\nSTAT items:2:evicted_time 3\r\n", evicted, age),
		"stats slabs": "STAT 1:chunk_size 96\r\nSTAT 1:chunks_per_page 10922\r\nSTAT 1:total_pages 1\r\n",
	}
}

func ask(t *testing.T, w http.Handler) (usage.Report, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path, nil))
	var report usage.Report
	if answer.Code != http.StatusOK {
		return report, fmt.Sprintf("%d %s", answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	return report, ""
}

func neverCopied() time.Time { return time.Time{} }

// watched runs a test with a watcher of a memcached, on a clock that does not wait.
func watched(t *testing.T, f *fake, test func(t *testing.T, w *Watcher, log *strings.Builder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		w := New(f.login, neverCopied, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		test(t, w, &log)
		stop()
		<-done
	})
}

func TestMemcachedIsWatchedWhileTheOperatorAsks(t *testing.T) {
	f := &fake{answers: statistics(0, 0, 0, 0)}
	watched(t, f, func(t *testing.T, w *Watcher, _ *strings.Builder) {
		time.Sleep(time.Hour)
		if f.connections > 0 {
			t.Fatal("memcached has a connection though nobody has asked")
		}
		if diff := cmp.Diff(usage.Report{Memory: 64 << 20, Connections: 3, Latency: 1}, first(ask(t, w))); diff != "" {
			t.Errorf("the first answer (-want +got):\n%s", diff)
		}
		for range 30 {
			time.Sleep(time.Minute)
			f.log(t, "ts=1 gid=1 type=item_get key=a status=found clsid=1 cfd=9 size=5\n")
			ask(t, w)
		}
		if got := first(ask(t, w)); got.Observed != 30*60 || len(got.Curve) == 0 {
			t.Errorf("after half an hour: %+v", got)
		}
		time.Sleep(usage.Patience + time.Minute)
		synctest.Wait()
		if f.watchers() != 0 {
			t.Error("memcached is watched though nobody asks any more")
		}
		ask(t, w)
		time.Sleep(time.Second)
		if f.watchers() != 1 {
			t.Error("memcached is not watched again")
		}
	})
}

// TestAHandoffHasTheLogForItself: a handoff fails if lines are lost, and the items that it adds say nothing about
// clients.
func TestAHandoffHasTheLogForItself(t *testing.T) {
	const line = "ts=1 gid=1 type=item_store key=memcached-agent-handoff-x-1 status=not_stored cmd=ms ttl=0 clsid=1 cfd=9 size=2\n"
	f := &fake{answers: statistics(0, 0, 0, 0)}
	watched(t, f, func(t *testing.T, w *Watcher, log *strings.Builder) {
		ask(t, w)
		time.Sleep(time.Minute)
		if w.Watching() != 1 {
			t.Fatal("the agent does not know that it watches")
		}
		f.log(t, line)
		synctest.Wait()
		if w.Watching() != 0 || f.watchers() != 0 {
			t.Error("memcached is still watched")
		}
		if got := first(ask(t, w)); got.Observed != 0 || len(got.Curve) > 0 {
			t.Errorf("what was seen before is not forgotten: %+v", got)
		}
		if want := time.Now().Add(leastPause); w.lastCopied() != want {
			t.Errorf("keys were copied until %s, and not until %s", w.lastCopied(), want)
		}
		time.Sleep(time.Minute)
		if f.watchers() != 1 || !strings.Contains(log.String(), "an agent copies keys") {
			t.Errorf("it does not begin again:\n%s", log)
		}
	})
}

func first(r usage.Report, _ string) usage.Report { return r }

func TestMemcachedIsNotWatchedForAReportWithoutCurve(t *testing.T) {
	f := &fake{answers: statistics(0, 0, 0, 0)}
	watched(t, f, func(t *testing.T, w *Watcher, _ *strings.Builder) {
		answer := httptest.NewRecorder()
		w.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path+"?"+usage.WithoutCurve, nil))
		time.Sleep(time.Minute)
		if answer.Code != http.StatusOK || f.watchers() > 0 {
			t.Errorf("it answers %d, and %d connections watch", answer.Code, f.watchers())
		}
	})
}

// TestWhatThisAgentCopiedCountsAsUsed: copied items count as used when the copy ended, and all items that existed when
// the agent started count as used at its start.
func TestWhatThisAgentCopiedCountsAsUsed(t *testing.T) {
	f := &fake{answers: statistics(0, 0, 0, 0)}
	watched(t, f, func(t *testing.T, w *Watcher, _ *strings.Builder) {
		started, ended := time.Now(), time.Time{}
		w.Copied = func() time.Time { return ended }
		ask(t, w)
		for _, step := range []struct {
			ends    bool
			evicted int // the number of evicted items, and for how long the last one was not used
			age     int
			want    usage.Report
		}{
			{evicted: 1, age: 30, want: usage.Report{EvictingCopied: true}}, // 30 s before the agent started
			{evicted: 2, age: 30, want: usage.Report{Evicting: true, EvictedAge: 30, EvictingCopied: true}},
			{ends: true, evicted: 2, age: 30},
			{evicted: 3, age: 30, want: usage.Report{EvictingCopied: true}},
			{evicted: 4, age: 58, want: usage.Report{Evicting: true, EvictedAge: 58, EvictingCopied: true}},
		} {
			if time.Sleep(time.Minute); step.ends {
				time.Sleep(recent)
				ended = time.Now()
			}
			f.becomes(nil, statistics(0, 0, step.evicted, step.age))
			got := first(ask(t, w))
			got = usage.Report{Evicting: got.Evicting, EvictedAge: got.EvictedAge, EvictingCopied: got.EvictingCopied}
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("%s after the start (-want +got):\n%s", time.Since(started), diff)
			}
		}
	})
}

func TestAReportIsOfTheChanges(t *testing.T) {
	f := &fake{answers: statistics(1000, 1000, 7, 50), old: true}
	watched(t, f, func(t *testing.T, w *Watcher, _ *strings.Builder) {
		w.copied = time.Now().Add(-time.Hour)
		ask(t, w)
		time.Sleep(time.Minute)
		f.becomes(nil, statistics(1090, 1010, 8, 40))
		f.log(t, "skipped=1\nts=1 gid=1 type=item_get key=a status=found clsid=1 cfd=9 size=5\n")
		want := usage.Report{
			Observed: 60, Memory: 64 << 20, Evicting: true, EvictedAge: 40, Reads: 100, HitRatio: 0.9, Skipped: 0.5,
			RecentReads: 100, RecentHitRatio: 0.9, Connections: 3, Latency: 1,
		}
		got := first(ask(t, w))
		got.Curve = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a minute later (-want +got):\n%s", diff)
		}
		time.Sleep(recent)
		if got := first(ask(t, w)); got.Evicting {
			t.Errorf("five minutes later: %+v", got)
		}
	})
}

func TestAMemcachedThatDoesNotAnswerIsAReason(t *testing.T) {
	f := &fake{down: errors.New("cannot reach memcached")}
	watched(t, f, func(t *testing.T, w *Watcher, log *strings.Builder) {
		if _, err := ask(t, w); err != "503 cannot reach memcached" {
			t.Errorf("got %q", err)
		}
		time.Sleep(5 * time.Minute)
		f.becomes(nil, statistics(0, 0, 0, 0))
		time.Sleep(time.Minute)
		if got, err := ask(t, w); err != "" || got.Observed == 0 {
			t.Errorf("once memcached answers again: %q, %+v", err, got)
		}
		f.becomes(errors.New("cannot reach memcached"), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if count := strings.Count(log.String(), "cannot reach memcached"); count != 2 {
			t.Errorf("the reason is logged %d times:\n%s", count, log)
		}
	})
}
