package agent

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/agent/endpoint"
)

func TestProbesReportOnlyTheAgent(t *testing.T) {
	failure := errors.New("no file")
	check := func() error { return failure }
	handler, slots := endpoint.Probes(check), endpoint.Probes(check)
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
