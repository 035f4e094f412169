package check

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// answering is a registry that answers each push with a status, or as a registry does.
func answering(t *testing.T, status int) (host string) {
	t.Helper()
	whole := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && status != http.StatusAccepted {
			w.WriteHeader(status)
			return
		}
		whole.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestTheRegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	tests := map[string]struct {
		registry string
		way      target.Way
		status   Status
		words    []string
	}{
		"takes images, and may be another on the nodes": {answering(t, http.StatusAccepted) + "/team", target.Direct, Warning, []string{"takes 3 images", "on the nodes"}},
		"takes those of OLM, too":                       {answering(t, http.StatusAccepted), target.OLM, Warning, []string{"takes 5 images"}},
		"wants a login":                                 {answering(t, http.StatusUnauthorized), target.Direct, Failed, []string{"memcached-operator:demo", "docker login 127.0.0.1"}},
		"wants another login":                           {answering(t, http.StatusForbidden), target.Direct, Failed, []string{"docker login 127.0.0.1"}},
		"wants its repositories to be made":             {answering(t, http.StatusNotFound) + "/team", target.Direct, Failed, []string{"make the repository team/memcached-operator first", "ECR"}},
		"is something else":                             {answering(t, http.StatusTeapot), target.Direct, Failed, []string{"--registry"}},
		"does not answer":                               {"127.0.0.1:1", target.Direct, Failed, []string{"connection refused", "curl -v 127.0.0.1:1/v2/"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &Subject{Options: target.Options{Way: tc.way, Registry: tc.registry}}
			got := checkRegistry(t.Context(), s)
			expect(t, got, tc.status, tc.words...)
		})
	}
}

func TestARegistryElsewhereNeedsNoWarning(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost:5001": true, "127.0.0.1:5001": true, "[::1]:5001": true, "localhost": true,
		"registry.example.org": false, "10.0.0.1:5000": false,
	} {
		if got := isLoopback(host); got != want {
			t.Errorf("%s is this machine: %t, want %t", host, got, want)
		}
	}
}
