package exporter

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// memcached is a server that answers "stats" and its kinds, such as "stats items". It ends each connection after some
// answers.
type memcached struct {
	address     string
	mutex       sync.Mutex
	answers     map[string]string
	perLogin    int
	connections atomic.Int64
}

func newMemcached(t *testing.T, answers map[string]string) *memcached {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	m := &memcached{address: listener.Addr().String(), answers: answers, perLogin: 1000}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			m.connections.Add(1)
			requests := bufio.NewScanner(connection)
			for i := 0; i < m.perLogin && requests.Scan(); i++ {
				fmt.Fprint(connection, m.answerTo(requests.Text())+"END\r\n")
			}
			_ = connection.Close()
		}
	}()
	return m
}

func (m *memcached) answer(request, answer string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.answers[request] = answer
}

func (m *memcached) answerTo(request string) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.answers[request]
}

func (m *memcached) login(ctx context.Context) (*protocol.Client, error) {
	return protocol.Dial(ctx, m.address, nil)
}

func newExporter(t *testing.T, m *memcached) (*Exporter, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	e := &Exporter{Login: m.login, SlabClasses: true, Log: slog.New(slog.NewTextHandler(log, nil))}
	t.Cleanup(e.Close)
	return e, log
}

// series returns samples as text, without the lines that explain them.
func series(t *testing.T, samples []Sample) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, samples); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(out.String()), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "#")
	})
}

func TestCollect(t *testing.T) {
	tests := map[string]struct {
		answers map[string]string
		want    []string
	}{
		"statistics that nobody knows": {map[string]string{"stats": "STAT new 5\r\n"}, []string{"memcached_up 1"}},
		"each kind": {map[string]string{
			"stats": "STAT version 1.6.45\r\nSTAT uptime 5\r\nSTAT threads 4\r\nSTAT rusage_user 0.004811\r\n", "stats settings": "STAT maxconns 1024\r\nSTAT lru_crawler yes\r\nSTAT lru_maintainer_thread no\r\n",
			"stats items": "STAT items:3:number 7\r\nSTAT items:3:hits_to_temp 1\r\n", "stats slabs": "STAT 3:chunk_size 96\r\nSTAT active_slabs 1\r\nSTAT total_malloced 1048576\r\n",
		}, []string{
			"memcached_lru_crawler_enabled 1", "memcached_lru_crawler_maintainer_thread 0", "memcached_malloced_bytes 1.048576e+06", "memcached_max_connections 1024", "memcached_process_user_cpu_seconds_total 0.004811",
			`memcached_slab_chunk_size_bytes{slab="3"} 96`, `memcached_slab_current_items{slab="3"} 7`, `memcached_slab_lru_hits_total{slab="3",lru="temporary"} 1`,
			"memcached_threads 4", "memcached_up 1", "memcached_uptime_seconds 5", `memcached_version{version="1.6.45"} 1`,
		}},
		"sets without those that are a cas": {map[string]string{
			"stats":       "STAT cmd_set 100\r\nSTAT cas_misses 1\r\nSTAT cas_hits 2\r\nSTAT cas_badval 4\r\nSTAT get_misses 3\r\n",
			"stats slabs": "STAT 3:cmd_set 50\r\nSTAT 3:cas_hits 2\r\nSTAT 3:cas_badval 4\r\n",
		}, []string{
			`memcached_commands_total{command="cas",status="badval"} 4`, `memcached_commands_total{command="cas",status="hit"} 2`, `memcached_commands_total{command="cas",status="miss"} 1`,
			`memcached_commands_total{command="get",status="miss"} 3`, `memcached_commands_total{command="set",status="hit"} 93`,
			`memcached_slab_commands_total{slab="3",command="cas",status="badval"} 4`, `memcached_slab_commands_total{slab="3",command="cas",status="hit"} 2`, `memcached_slab_commands_total{slab="3",command="set",status="hit"} 44`,
			"memcached_up 1",
		}},
		"what is no number":   {map[string]string{"stats": "STAT uptime long\r\nSTAT pid 4\r\n"}, []string{"memcached_up 1"}},
		"a version in quotes": {map[string]string{"stats": "STAT version a\"b\\c\xff\r\n"}, []string{"memcached_up 1", `memcached_version{version="a\"b\\c?"} 1`}},
		"an error":            {map[string]string{"stats settings": "CLIENT_ERROR unauthenticated\r\n"}, []string{"memcached_up 0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, _ := newExporter(t, newMemcached(t, tc.answers))
			if diff := cmp.Diff(tc.want, series(t, e.Collect(t.Context()))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheConnectionIsKeptAndRenewed(t *testing.T) {
	m := newMemcached(t, nil)
	e, log := newExporter(t, m)
	for range 3 {
		e.Collect(t.Context())
	}
	if got := m.connections.Load(); got != 1 {
		t.Errorf("%d connections for three scrapes", got)
	}
	m = newMemcached(t, nil)
	m.perLogin = 6 // the connection ends within the second scrape
	e.Login = m.login
	e.Close()
	for range 3 {
		if diff := cmp.Diff([]string{"memcached_up 1"}, series(t, e.Collect(t.Context()))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if log.Len() > 0 {
		t.Errorf("log: %s", log)
	}
}

func TestWhyMemcachedIsDownIsLoggedOnce(t *testing.T) {
	m := newMemcached(t, nil)
	e, log := newExporter(t, m)
	e.Login = func(context.Context) (*protocol.Client, error) { return nil, errors.New("refused") }
	for range 3 {
		if diff := cmp.Diff([]string{"memcached_up 0"}, series(t, e.Collect(t.Context()))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := strings.Count(log.String(), "reason=refused"); got != 1 {
		t.Errorf("logged %d times: %s", got, log)
	}
}

func TestTheEndOfTheCertificateThatIsServed(t *testing.T) {
	e, _ := newExporter(t, newMemcached(t, nil))
	e.Served = func(context.Context) (*x509.Certificate, error) {
		return &x509.Certificate{NotAfter: time.Unix(1800000000, 0)}, nil
	}
	want := []string{"memcached_certificate_not_after_timestamp_seconds 1.8e+09", "memcached_up 1"}
	if diff := cmp.Diff(want, series(t, e.Collect(t.Context()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e.Served = func(context.Context) (*x509.Certificate, error) { return nil, errors.New("no connection is left") }
	if diff := cmp.Diff(want[1:], series(t, e.Collect(t.Context()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
