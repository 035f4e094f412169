package memcachedtest

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// Server is a running memcached.
type Server struct {
	Address string

	cmd   *exec.Cmd
	ended chan struct{}
}

// Start starts a memcached on a free port of the loopback interface, and ends it with the test.
func Start(t testing.TB, arguments ...string) *Server {
	t.Helper()
	return StartAt(t, unused.Address(t), arguments...)
}

// StartAt starts a memcached at an address, such as that of a memcached that has ended.
func StartAt(t testing.TB, address string, arguments ...string) *Server {
	t.Helper()
	return startBy(t, exec.Command, address, arguments...)
}

// Run is exec.Command, or a function that makes a command which runs elsewhere, such as in a control group.
type Run func(program string, arguments ...string) *exec.Cmd

// StartBy starts a memcached with the command that a Run makes.
func StartBy(t testing.TB, run Run, arguments ...string) *Server {
	t.Helper()
	return startBy(t, run, unused.Address(t), arguments...)
}

func startBy(t testing.TB, run Run, address string, arguments ...string) *Server {
	t.Helper()
	begin, err := command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		begin = append(begin, "--user=root")
	}
	// memcached begins to listen at its addresses in this order. So once it accepts connections at this last address, it
	// also accepts them at the addresses in arguments.
	begin = append(append(begin, arguments...), "--listen="+address)
	s := &Server{Address: address, cmd: run(begin[0], begin[1:]...), ended: make(chan struct{})}
	var log bytes.Buffer
	s.cmd.Stdout, s.cmd.Stderr = &log, &log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.Signal(t, syscall.SIGKILL)
		<-s.ended
		if t.Failed() {
			t.Logf("memcached at %s:\n%s", s.Address, &log)
		}
	})
	s.await(t)
	return s
}

// await waits until memcached accepts connections.
func (s *Server) await(t testing.TB) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for range ticker.C {
		connection, err := net.Dial("tcp", s.Address)
		if err == nil {
			_ = connection.Close()
			return
		}
		select {
		case <-s.ended:
			t.Fatalf("memcached ended: %s", s.cmd.ProcessState)
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		default:
		}
	}
}

// Signal sends a signal. SIGUSR1 makes memcached shut down gracefully; SIGTERM and SIGKILL end it immediately.
func (s *Server) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// Ended returns a channel that is closed when the process has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }
