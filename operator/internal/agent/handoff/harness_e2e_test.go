//go:build e2e

package handoff_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// logBuffers are the options of a memcached with a slot.
const logBuffers = "--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384"

func start(t *testing.T, arguments ...string) *memcachedtest.Server {
	t.Helper()
	return memcachedtest.Start(t, append([]string{logBuffers, "--memory-limit=4096"}, arguments...)...)
}

func dial(server *memcachedtest.Server) handoff.Dial {
	return handoff.Server{Address: server.Address}.Dial
}

// running is a handoff in progress.
type running struct {
	*handoff.Handoff
	copied chan struct{}
	result chan error
	stop   context.CancelFunc
}

func run(t *testing.T, old, next handoff.Dial) *running {
	t.Helper()
	return begin(t, old, next, func(ctx context.Context, h *handoff.Handoff) error { return h.Run(ctx) })
}

func begin(t *testing.T, old, next handoff.Dial, what func(context.Context, *handoff.Handoff) error) *running {
	t.Helper()
	return launch(t, handoff.Whole(old, next), what)
}

func launch(t *testing.T, move handoff.Move, what func(context.Context, *handoff.Handoff) error) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{copied: make(chan struct{}), result: make(chan error, 1), stop: stop}
	r.Handoff = &handoff.Handoff{
		Move: move, Copied: func() { close(r.copied) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	done := make(chan struct{})
	go func() {
		r.result <- what(ctx, r.Handoff)
		close(done)
	}()
	t.Cleanup(func() { stop(); <-done })
	return r
}

// copy waits until all keys are copied.
func (r *running) copy(t *testing.T) {
	t.Helper()
	select {
	case <-r.copied:
	case err := <-r.result:
		t.Fatalf("not copied: %v", err)
	case <-time.After(2 * time.Minute):
		t.Fatalf("not copied within a minute: %+v", r.Progress())
	}
}

// use stores a key in the new memcached as a client, and waits until the handoff has noticed that.
func (r *running) use(t *testing.T, next *memcachedtest.Server) {
	t.Helper()
	r.invalidates(t, func() { connect(t, next).set(t, "key-1", "newer", "T0") })
}

// invalidates makes a change, and waits until a key is removed from the other memcached because of this change.
func (r *running) invalidates(t *testing.T, change func()) {
	t.Helper()
	before := r.Progress().Invalidated
	change()
	gomega.NewWithT(t).Eventually(func() int64 { return r.Progress().Invalidated }).WithTimeout(2 * time.Minute).
		Should(gomega.BeNumerically(">", before))
}

// end waits until the handoff has ended.
func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.result:
		return err
	case <-time.After(2 * time.Minute):
		t.Fatalf("the handoff has not ended within a minute: %+v", r.Progress())
		return nil
	}
}

// finish ends the old memcached as the agent next to it would.
func (r *running) finish(t *testing.T, old *memcachedtest.Server) {
	t.Helper()
	if err := handoff.End(t.Context(), dial(old)); err != nil {
		t.Fatal(err)
	}
	old.Signal(t, syscall.SIGUSR1)
	if err := r.end(t); err != nil {
		t.Fatalf("the handoff failed: %v", err)
	}
}

// client is an ordinary client of memcached.
type client struct {
	connection net.Conn
	reader     *bufio.Reader
}

func connect(t testing.TB, server *memcachedtest.Server) *client {
	t.Helper()
	return secured(t, dial(server))
}

// secured is a client that logs in, or speaks TLS.
func secured(t testing.TB, dial handoff.Dial) *client {
	t.Helper()
	connection, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return &client{connection, bufio.NewReader(connection)}
}

// ask sends a request and returns the first line of the answer.
func (c *client) ask(request string) (string, error) {
	if _, err := io.WriteString(c.connection, request+"\r\n"); err != nil {
		return "", err
	}
	line, err := c.reader.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// want fails the test unless the answer is the wanted line.
func (c *client) want(t testing.TB, request, want string) {
	t.Helper()
	if got, err := c.ask(request); err != nil || got != want {
		t.Fatalf("%.100q: %q, %v, want %q", request, got, err, want)
	}
}

// set stores a value, with flags such as "T5 F7".
func (c *client) set(t testing.TB, key, value, flags string) {
	t.Helper()
	c.want(t, fmt.Sprintf("ms %s %d %s\r\n%s", key, len(value), flags, value), "HD")
}

// get returns the value, and the line that mg answers before it: "EN" if there is no value.
func (c *client) get(key, flags string) (answer, value string, err error) {
	answer, err = c.ask("mg " + key + " v " + flags)
	fields := strings.Fields(answer)
	if err != nil || fields[0] != "VA" {
		return answer, "", err
	}
	size, err := strconv.Atoi(fields[1])
	if err != nil {
		return answer, "", err
	}
	content := make([]byte, size+2)
	_, err = io.ReadFull(c.reader, content)
	return answer, string(content[:size]), err
}
