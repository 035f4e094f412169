package oci

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAnErrorOfARegistryHasItsCause(t *testing.T) {
	answer := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/" {
				w.WriteHeader(code)
			}
		})
	}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tests := map[string]struct {
		handler http.Handler
		want    string
	}{
		"unauthorized":  {answer(http.StatusUnauthorized), "the registry HOST does not show HOST/team/image:v1: log in by docker login"},
		"forbidden":     {answer(http.StatusForbidden), "does not show HOST/team/image:v1"},
		"another error": {answer(http.StatusTeapot), "ask the registry for HOST/team/image:v1"},
		"no answer":     {silent, "the registry HOST can't be reached for HOST/team/image:v1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.handler)
			defer server.Close()
			host := strings.TrimPrefix(server.URL, "http://")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := Describe(ctx, host+"/team/image:v1")
			if want := strings.ReplaceAll(tc.want, "HOST", host); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
}
