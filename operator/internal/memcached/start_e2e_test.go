//go:build e2e

package memcached

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestARealMemcachedStartsAtEveryBound starts the program with the arguments that the operator would give it, and sends
// it commands.
func TestARealMemcachedStartsAtEveryBound(t *testing.T) {
	base := Settings{ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads, MaxItemSize: DefaultMaxItemSize}
	tests := map[string]func(*Settings){
		"the defaults":                         func(*Settings) {},
		"the least memory":                     func(s *Settings) { s.ItemMemory = 16 * Mebibyte },
		"the smallest largest item":            func(s *Settings) { s.MaxItemSize = ItemChunk },
		"an odd multiple of the chunk":         func(s *Settings) { s.MaxItemSize = 3 * ItemChunk },
		"items of half the memory":             func(s *Settings) { s.MaxItemSize = LargestItem(s.ItemMemory) },
		"the largest item of all":              func(s *Settings) { s.ItemMemory, s.MaxItemSize = 2<<30, 1<<30 },
		"the fewest connections":               func(s *Settings) { s.MaxConnections = 16 },
		"the fewest connections, most threads": func(s *Settings) { s.MaxConnections, s.Threads = 16, 64 },
		"one thread":                           func(s *Settings) { s.Threads = 1 },
		"arguments of the user's own":          func(s *Settings) { s.ExtraArguments = []string{"-f", "1.08", "-o", "modern"} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			settings := base
			change(&settings)
			startAndAsk(t, settings)
		})
	}
}

// TestAsManyClientsAreServedAsTheSpecSays opens exactly this number of connections, and uses the last one.
func TestAsManyClientsAreServedAsTheSpecSays(t *testing.T) {
	for _, settings := range []Settings{
		{ItemMemory: DefaultItemMemory, MaxItemSize: DefaultMaxItemSize, MaxConnections: 16, Threads: 4},
		{ItemMemory: DefaultItemMemory, MaxItemSize: DefaultMaxItemSize, MaxConnections: 300, Threads: 64},
	} {
		address := start(t, &settings)
		for i := range settings.MaxConnections {
			connection := dial(t, address)
			if i == settings.MaxConnections-1 {
				ask(t, connection)
			}
		}
	}
}

func startAndAsk(t *testing.T, settings Settings) {
	t.Helper()
	ask(t, dial(t, start(t, &settings)))
}

func start(t *testing.T, settings *Settings) (address string) {
	t.Helper()
	return startBy(t, exec.Command, settings)
}

// startBy starts memcached on a free port of the loopback interface, with a given command.
func startBy(
	t *testing.T, command func(name string, arguments ...string) *exec.Cmd, settings *Settings,
) (address string) {
	t.Helper()
	settings.Port = freePort(t)
	address = fmt.Sprintf("127.0.0.1:%d", settings.Port)
	if settings.TLS != nil {
		settings.TLS.Port = freePort(t)
		address = fmt.Sprintf("127.0.0.1:%d", settings.TLS.Port)
	}
	output := &strings.Builder{}
	cmd := command("memcached", append(Arguments(*settings), "--user=nobody")...)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s\n%s", cmd, output)
		}
	})
	return address
}

func freePort(t *testing.T) int32 {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return int32(listener.Addr().(*net.TCPAddr).Port)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	var connection net.Conn
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if connection, err = net.Dial("tcp", address); err == nil {
			t.Cleanup(func() { _ = connection.Close() })
			return connection
		}
	}
	t.Fatalf("memcached does not answer: %v", err)
	return nil
}

func ask(t *testing.T, connection net.Conn) {
	t.Helper()
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(connection, "set key 0 0 5\r\nvalue\r\nget key\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(connection)
	for _, want := range []string{"STORED", "VALUE key 0 5", "value", "END"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("memcached answers %q (%v), want %q", lines.Text(), lines.Err(), want)
		}
	}
}
