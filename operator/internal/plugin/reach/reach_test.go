package reach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// silent are Pods that answer each line with the same text. Some answer nothing.
type silent struct {
	answer string
	none   map[string]bool // by Pod
	dialed atomic.Int32
	open   atomic.Int32
}

func (s *silent) Dial(_ context.Context, pod *corev1.Pod, _ int32) (net.Conn, error) {
	s.dialed.Add(1)
	s.open.Add(1)
	near, far := net.Pipe()
	go func() {
		defer s.open.Add(-1)
		for lines := bufio.NewScanner(far); lines.Scan(); {
			if s.none[pod.Name] {
				continue
			}
			_, _ = io.WriteString(far, s.answer)
		}
	}()
	return near, nil
}

func servers(count int) (found []Server) {
	for i := range count {
		pod := cachetest.Pod("shop", fmt.Sprint(i), "node-a")
		found = append(found, Server{Pod: pod.Name, pod: &pod})
	}
	return found
}

func version(ctx context.Context, connection *Connection) (string, error) {
	return connection.Client.Ask(ctx, "version\r\n")
}

func TestEachServerHasOneConnectionUntilItFails(t *testing.T) {
	pods := &silent{answer: "VERSION 1\r\n", none: map[string]bool{servers(2)[1].Pod: true}}
	cache := &Cache{Dialer: pods, Timeout: 100 * time.Millisecond}
	for range 2 {
		answers := All(t.Context(), cache, servers(2), 0, version)
		if answers[0].Value != "VERSION 1" || answers[0].Err != nil {
			t.Errorf("got %+v", answers[0])
		}
		if err := answers[1].Err; err == nil || !strings.Contains(err.Error(), "raise --timeout") {
			t.Errorf("got %v", err)
		}
	}
	if got := pods.dialed.Load(); got != 3 {
		t.Errorf("%d connections, not 1 of the first server and 2 of the second", got)
	}
	cache.Close()
	deadline := time.Now().Add(10 * time.Second)
	for pods.open.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if got := pods.open.Load(); got != 0 {
		t.Errorf("%d connections stay open", got)
	}
}

func TestAtMostEightServersAreAskedAtATime(t *testing.T) {
	var now, most atomic.Int32
	cache := &Cache{Dialer: &silent{}, Timeout: time.Minute}
	defer cache.Close()
	all := All(t.Context(), cache, servers(30), 0, func(context.Context, *Connection) (int, error) {
		if asked := now.Add(1); asked > most.Load() {
			most.Store(asked)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return 1, nil
	})
	if len(all) != 30 || most.Load() > parallel {
		t.Errorf("%d answers, %d at a time", len(all), most.Load())
	}
}

func TestALoginThatIsRefusedIsAnError(t *testing.T) {
	cache := &Cache{
		Dialer: &silent{answer: "CLIENT_ERROR authentication failure\r\n"}, Timeout: time.Minute,
		Credentials: Credentials{Users: []users.User{{Name: "app", Password: "pa55word"}}},
	}
	defer cache.Close()
	err := All(t.Context(), cache, servers(1), 0, version)[0].Err
	if err == nil || strings.Contains(err.Error(), "pa55word") || !strings.Contains(err.Error(), "refuses the user name") {
		t.Errorf("got %v", err)
	}
}

func TestTheUserInterruptsAnything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cache := &Cache{Dialer: &silent{none: map[string]bool{servers(1)[0].Pod: true}}, Timeout: time.Hour}
	defer cache.Close()
	time.AfterFunc(20*time.Millisecond, cancel)
	answers := All(ctx, cache, servers(1), 0, version)
	if answers[0].Err == nil || errors.Is(answers[0].Err, context.DeadlineExceeded) {
		t.Errorf("got %v", answers[0].Err)
	}
}
