package agent

import (
	"net/http"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/endpoint"
)

// addSlotHandlers adds the paths that only a Pod with a slot needs.
func addSlotHandlers(mux *http.ServeMux, ready func() error, e *ender) {
	mux.HandleFunc("GET /ready", endpoint.Answer(ready))
	mux.HandleFunc("POST "+terminatePath, withoutTimeout(e.terminate))
	mux.HandleFunc("GET "+endedPath, withoutTimeout(e.waitUntilEnded))
}

// withoutTimeout removes the limit on how long an answer may take, because this answer may take as long as a handoff.
func withoutTimeout(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		handler(w, r)
	}
}
