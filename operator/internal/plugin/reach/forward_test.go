package reach

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

// forwarder starts an API server that does not support WebSocket. For each port except the closed one, it sends back
// the data that it receives.
func forwarder(t *testing.T, closed string) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/forbidden/"):
			http.Error(w, `pods "p" is forbidden: User "u" cannot create resource "pods/portforward"`, http.StatusForbidden)
			return
		case r.Method != http.MethodPost:
			http.Error(w, "no WebSocket here", http.StatusBadRequest)
			return
		}
		if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
			t.Error(err)
			return
		}
		streams := make(chan httpstream.Stream, 2)
		session := spdy.NewResponseUpgrader().UpgradeResponse(w, r,
			func(stream httpstream.Stream, _ <-chan struct{}) error {
				streams <- stream
				return nil
			})
		if session == nil {
			return
		}
		defer session.Close()
		failures, data := <-streams, <-streams
		if port := data.Headers().Get(corev1.PortHeader); port == closed {
			_, _ = io.WriteString(failures, "connection refused on port "+port)
		} else {
			_, _ = io.Copy(data, data)
		}
		_, _ = failures.Close(), data.Close()
		<-session.CloseChan()
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func podIn(namespace string) *corev1.Pod {
	pod := cachetest.Pod("shop", "1aaaa", "node-a")
	pod.Namespace = namespace
	return &pod
}

func TestAPortIsForwardedBySPDYWhereTheServerKnowsNoWebSocket(t *testing.T) {
	connection, err := Forward{forwarder(t, "")}.Dial(t.Context(), podIn("team"), 11211)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, "version\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil || line != "version\r\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if err := connection.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v behind the deadline", err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheErrorOfTheNodeIsThatOfTheConnection(t *testing.T) {
	connection, err := Forward{forwarder(t, "11211")}.Dial(t.Context(), podIn("team"), 11211)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Read(make([]byte, 1)); err == nil || err.Error() != "connection refused on port 11211" {
		t.Errorf("got %v", err)
	}
}

func TestTheMissingRightToForwardIsNamed(t *testing.T) {
	_, err := Forward{forwarder(t, "")}.Dial(t.Context(), podIn("forbidden"), 11211)
	if err == nil || !strings.Contains(err.Error(), "you have no right to create pods/portforward in namespace forbidden") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatForwardsNothingIsNotWaitedFor(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Forward{&rest.Config{Host: server.URL}}.Dial(ctx, podIn("team"), 11211)
	if err == nil || !strings.Contains(err.Error(), "forwards no port of Pod shop-5d9c7b6f4-1aaaa") {
		t.Errorf("got %v", err)
	}
}
