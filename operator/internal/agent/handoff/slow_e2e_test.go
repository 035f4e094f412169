//go:build e2e

package handoff_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// through returns a Dial for a memcached that gets all commands late, except the command that empties it.
func through(t *testing.T, server *memcachedtest.Server, late time.Duration) handoff.Dial {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(connection, server.Address, late)
		}
	}()
	return handoff.Server{Address: listener.Addr().String()}.Dial
}

// part has bytes that a client sent, and the time at which memcached gets them.
type part struct {
	content []byte
	at      time.Time
}

func pass(client net.Conn, address string, late time.Duration) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	parts := make(chan part, 1<<16)
	go func() {
		defer func() { _ = server.(*net.TCPConn).CloseWrite() }()
		for p := range parts {
			time.Sleep(time.Until(p.at))
			_, _ = server.Write(p.content)
		}
	}()
	go func() {
		defer close(parts)
		for {
			buffer := make([]byte, 64<<10)
			n, err := client.Read(buffer)
			p := part{buffer[:n], time.Now().Add(late)}
			if bytes.HasPrefix(p.content, []byte("flush_all")) {
				p.at = time.Time{}
			}
			parts <- p
			if err != nil {
				return
			}
		}
	}()
	_, _ = io.Copy(client, server)
}

// late returns a Dial for a memcached whose answers and log arrive late.
func late(dial handoff.Dial, by time.Duration) handoff.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		connection, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		c := &lateConnection{Conn: connection, parts: make(chan part, 1<<16)}
		go c.receive(by)
		return c, nil
	}
}

type lateConnection struct {
	net.Conn

	parts chan part // closed when no more parts arrive
	first []byte    // the first part that has arrived
	err   error     // the reason why no more parts arrive
}

func (c *lateConnection) receive(by time.Duration) {
	defer close(c.parts)
	for c.err == nil {
		buffer := make([]byte, 64<<10)
		var n int
		n, c.err = c.Conn.Read(buffer)
		c.parts <- part{buffer[:n], time.Now().Add(by)}
	}
}

func (c *lateConnection) Read(into []byte) (int, error) {
	for len(c.first) == 0 {
		p, more := <-c.parts
		if !more {
			return 0, c.err
		}
		time.Sleep(time.Until(p.at))
		c.first = p.content
	}
	n := copy(into, c.first)
	c.first = c.first[n:]
	return n, nil
}

// TestWhatChangedWhileKeysAreCopiedDoesNotStay delays each report of a change, so that the agent learns about some
// changes only after all keys are copied.
func TestWhatChangedWhileKeysAreCopiedDoesNotStay(t *testing.T) {
	t.Parallel()
	old, next := start(t), start(t)
	fill(t, old, 2000)
	const keys = 400
	writer, reader := connect(t, old), connect(t, next)
	var versions [keys]int
	set := func(number int) {
		versions[number]++
		writer.set(t, fmt.Sprintf("changing-%d", number), fmt.Sprintf("v%d", versions[number]), "T0")
	}
	for number := range keys {
		set(number)
	}
	r := run(t, late(dial(old), 100*time.Millisecond), dial(next))
	for copied := false; !copied; {
		select {
		case <-r.copied:
			copied = true
		case err := <-r.result:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond): // so that most keys are not changed after their copy
			set(rand.IntN(keys))
		}
	}
	hits := 0
	gomega.NewWithT(t).Eventually(func() (outdated []string) {
		hits = 0
		for number, version := range versions {
			name := fmt.Sprintf("changing-%d", number)
			_, value, err := reader.get(name, "")
			if err != nil {
				t.Fatal(err)
			}
			if value != "" && value != fmt.Sprintf("v%d", version) {
				outdated = append(outdated, name)
			}
			hits += min(1, len(value))
		}
		return outdated
	}).WithTimeout(2 * time.Minute).Should(gomega.BeEmpty())
	if hits == 0 {
		t.Error("no key was copied")
	}
}
