package agent

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
)

func TestProbesReportOnlyTheAgent(t *testing.T) {
	failure := errors.New("no file")
	check := func() error { return failure }
	handler, slots := probeHandler(check), probeHandler(check)
	addSlotHandlers(slots, check, &ender{})
	tests := []struct {
		path string
		err  error
		want int
		body string
	}{
		{"/ready", nil, http.StatusNotFound, ""},
		{"/healthz", failure, http.StatusOK, "ok"}, {"/started", failure, http.StatusServiceUnavailable, "no file"},
		{"/healthz", nil, http.StatusOK, "ok"}, {"/started", nil, http.StatusOK, "ok"}, {"/metrics", nil, http.StatusNotFound, ""},
	}
	for _, tc := range tests {
		failure = tc.err
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.path, nil))
		if answer.Code != tc.want || !strings.Contains(answer.Body.String(), tc.body) {
			t.Errorf("%s: %d %s, want %d", tc.path, answer.Code, answer.Body, tc.want)
		}
	}
	for err, want := range map[error]int{nil: http.StatusOK, errors.New("no slot"): http.StatusServiceUnavailable} {
		failure = err
		answer := httptest.NewRecorder()
		slots.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ready", nil))
		if answer.Code != want {
			t.Errorf("/ready with slots: %d, want %d", answer.Code, want)
		}
	}
}

func TestServingEndsAfterTheRequestsUnderWay(t *testing.T) {
	g := gomega.NewWithT(t)
	address := unused.Address(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, address, metricsHandler(func(context.Context) []exporter.Sample {
			close(begun)
			<-finish
			return nil
		}))
	}()
	answers := make(chan *http.Response, 1)
	go func() {
		for { // until it listens
			if answer, err := http.Get("http://" + address + "/metrics"); err == nil {
				answers <- answer
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	g.Eventually(begun).WithTimeout(2 * time.Minute).Should(gomega.BeClosed())
	cancel()
	g.Consistently(ended).WithTimeout(100 * time.Millisecond).ShouldNot(gomega.Receive())
	close(finish)
	var answer *http.Response
	g.Eventually(answers).WithTimeout(2 * time.Minute).Should(gomega.Receive(&answer))
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("%s, %s", answer.Status, answer.Header)
	}
	var err error
	g.Eventually(ended).WithTimeout(2 * time.Minute).Should(gomega.Receive(&err))
	if err != nil {
		t.Error(err)
	}
}

func TestAnAddressThatIsTakenIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := serve(t.Context(), listener.Addr().String(), http.NewServeMux()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("error %v", err)
	}
	if err := serve(t.Context(), "0", nil); err != nil {
		t.Errorf("turned off: %v", err)
	}
}
