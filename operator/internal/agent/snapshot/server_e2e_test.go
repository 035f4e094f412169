//go:build e2e

package snapshot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// restarting is a store that calls restart when the object of this server is begun.
type restarting struct {
	*memory
	server  string
	restart func()
}

func (r *restarting) Create(ctx context.Context, name string, size int64) (io.WriteCloser, error) {
	if strings.HasPrefix(name, "daily/"+r.server+".") {
		r.restart()
	}
	return r.memory.Create(ctx, name, size)
}

func TestAServerThatRestartsIsNotSavedEmpty(t *testing.T) {
	for sentence, when := range map[string]string{"after it is connected to": "shop-1", "before it is connected to": "shop-0"} {
		t.Run(sentence, func(t *testing.T) {
			servers, process := cache(t, 1), memcachedtest.Start(t)
			servers = append(servers, Server{
				Name: "shop-1", Address: process.Address, Dial: handoff.Server{Address: process.Address}.Dial,
			})
			fill(t, servers[0], 0)
			fill(t, servers[1], 0)
			store := newMemory()
			s := &Save{Name: "daily", Servers: servers, Pace: handoff.Limit(0), Store: &restarting{store, when, func() {
				process.Signal(t, syscall.SIGKILL)
				<-process.Ended()
				memcachedtest.StartAt(t, process.Address)
			}}}
			_, err := s.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "shop-1: it has restarted during the save") {
				t.Errorf("error %v", err)
			}
			if len(store.objects) > 0 {
				t.Errorf("%d objects are left", len(store.objects))
			}
			again := &Save{Name: "daily", Servers: servers, Pace: handoff.Limit(0), Store: store}
			if _, err := again.Run(t.Context()); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
		})
	}
}

// TestClientsAreServedWhileASaveWaitsForAnotherOne uses a memcached with only one thread.
func TestClientsAreServedWhileASaveWaitsForAnotherOne(t *testing.T) {
	process := memcachedtest.Start(t, "--threads=1", "--memory-limit=200")
	server := Server{Name: "shop-0", Address: process.Address, Dial: handoff.Server{Address: process.Address}.Dial}
	const batches = 20
	for i := range batches {
		fill(t, server, i*keys)
	}
	other, err := net.Dial("tcp", process.Address) // It requests a list, and reads nothing.
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	fmt.Fprint(other, "lru_crawler metadump hash\r\n")
	if _, err := bufio.NewReaderSize(other, len("OK")).ReadByte(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	s := &Save{Store: newMemory(), Name: "daily", Servers: []Server{server}, Pace: handoff.Limit(0)}
	go func() {
		_, err := s.Run(t.Context())
		ended <- err
	}()
	for range 10 {
		time.Sleep(50 * time.Millisecond)
		connection, err := net.Dial("tcp", process.Address)
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.SetDeadline(time.Now().Add(time.Second))
		fmt.Fprint(connection, "mn\r\n")
		if answer, err := bufio.NewReader(connection).ReadString('\n'); answer != "MN\r\n" {
			t.Fatalf("a client gets %q: %v", answer, err)
		}
		_ = connection.Close()
	}
	select {
	case err := <-ended:
		t.Fatalf("the save did not wait: %v", err)
	default:
	}
	_ = other.Close()
	if err := <-ended; err != nil || s.Progress.Items.Load() != batches*keys {
		t.Errorf("%d items: %v", s.Progress.Items.Load(), err)
	}
}

func TestAnErrorOfAServerSaysWhatToDo(t *testing.T) {
	gone := Server{Name: "shop-0", Address: "127.0.0.1:1", Dial: handoff.Server{Address: "127.0.0.1:1"}.Dial}
	server := memcachedtest.Start(t, "-X")
	forbidding := Server{Name: "shop-0", Address: server.Address, Dial: handoff.Server{Address: server.Address}.Dial}
	for want, server := range map[string]Server{
		"shop-0: it does not answer: correct its address in --server": gone,
		"shop-0: it lists no keys: start it without -X and -W":        forbidding,
	} {
		s := &Save{Store: newMemory(), Name: "daily", Servers: []Server{server}, Pace: handoff.Limit(0)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := s.Run(ctx)
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), want) || errors.Is(err, ErrMissing) {
			t.Errorf("error %v, want %s", err, want)
		}
		for _, code := range []string{handoff.OldUnreachable, handoff.DumpForbidden} {
			if strings.Contains(fmt.Sprint(err), code) {
				t.Errorf("it has a word for programs: %v", err)
			}
		}
	}
}
