package discovery

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/discovery"
)

// front is a listener without a network. Its channel has connections, and errors that Accept is to return.
type front struct {
	net.Listener
	clients chan any
}

func (f front) Accept() (net.Conn, error) {
	switch client := (<-f.clients).(type) {
	case net.Conn:
		return client, nil
	case error:
		return nil, client
	}
	return nil, net.ErrClosed
}

func (f front) Close() error { close(f.clients); return nil }

// opened starts a server with a list of these servers.
func opened(t *testing.T, nodes ...discovery.Node) front {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list")
	list := discovery.List{Version: 7, Endpoint: "shop.team.svc:11211", Nodes: nodes}
	if err := os.WriteFile(file, []byte(list.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f, ended := front{clients: make(chan any)}, make(chan struct{})
	go func() {
		defer close(ended)
		(&Server{File: file, Log: slog.New(slog.DiscardHandler)}).accept(ctx, f, nil)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return f
}

func (f front) connect() net.Conn {
	here, there := net.Pipe()
	f.clients <- there
	return here
}

// ask sends a command and returns the first line of the answer, or the error of the connection.
func ask(client net.Conn, command string) string {
	if _, err := io.WriteString(client, command); err != nil {
		return err.Error()
	}
	line, err := bufio.NewReader(client).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return line
}

var server = discovery.Node{Host: "10.0.0.1", IP: "10.0.0.1", Port: 11211}

const elsewhere = "CLIENT_ERROR this is the discovery endpoint, which has no keys: use shop.team.svc:11211\r\n"

func TestTheClientThatIsSilentForLongestLeavesForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := opened(t, server)
		var silent []net.Conn
		for range connections {
			silent = append(silent, f.connect())
			time.Sleep(time.Millisecond)
		}
		if answer := ask(silent[0], "get x\r\n"); answer != elsewhere {
			t.Fatalf("the first client is answered %q", answer)
		}
		started := time.Now()
		if answer := ask(f.connect(), "get x\r\n"); answer != elsewhere || time.Since(started) > 0 {
			t.Errorf("a client more is answered %q after %v", answer, time.Since(started))
		}
		if answer := ask(silent[1], "get x\r\n"); answer != io.ErrClosedPipe.Error() {
			t.Errorf("the client that was silent for longest is answered %q", answer)
		}
		for _, place := range []int{0, 2, connections - 1} {
			if answer := ask(silent[place], "get x\r\n"); answer != elsewhere {
				t.Errorf("client %d is answered %q", place, answer)
			}
		}
	})
}

func TestNoErrorOfTheListenerEndsTheAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := opened(t, server)
		for range 3 {
			f.clients <- fmt.Errorf("accept: %w", syscall.EMFILE)
		}
		if answer := ask(f.connect(), "get x\r\n"); answer != elsewhere {
			t.Errorf("after the error a client is answered %q", answer)
		}
	})
}

func TestAListWithoutServersIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := opened(t)
		const want = "SERVER_ERROR the list of servers has not arrived yet: ask again\r\n"
		if answer := ask(f.connect(), "config get cluster\r\n"); answer != want {
			t.Errorf("the answer is %q", answer)
		}
		if answer := ask(f.connect(), "get x\r\n"); answer != elsewhere {
			t.Errorf("another command is answered %q", answer)
		}
	})
}

func TestAClientOfTheBinaryProtocolIsDisconnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		if answer := ask(opened(t, server).connect(), "\x80"); answer != io.EOF.Error() || time.Since(started) > 0 {
			t.Errorf("the answer is %q after %v", answer, time.Since(started))
		}
	})
}
