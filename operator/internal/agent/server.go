package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
)

// maxConnections limits the memory that clients of the metrics can use.
const maxConnections = 16

// serve serves over plain HTTP until the context ends, and then finishes requests in progress.
func serve(ctx context.Context, address string, handler http.Handler) error {
	if address == "0" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler, MaxHeaderBytes: 16 << 10,
		ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(netutil.LimitListener(listener, maxConnections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func metricsHandler(samples func(context.Context) []exporter.Sample) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = exporter.Write(w, samples(r.Context())) // the client has disconnected
	})
	return mux
}

// probeHandler reports on the agent itself: memcached has its own probes.
func probeHandler(started func() error) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", answer(func() error { return nil }))
	mux.HandleFunc("GET /started", answer(started))
	return mux
}

// addSlotHandlers adds what the Pod of a slot needs.
func addSlotHandlers(mux *http.ServeMux, ready func() error, e *ender) {
	mux.HandleFunc("GET /ready", answer(ready))
	mux.HandleFunc("POST "+terminatePath, withoutTimeout(e.terminate))
	mux.HandleFunc("GET "+endedPath, withoutTimeout(e.waitUntilEnded))
}

// withoutTimeout lets an answer take as long as a handoff.
func withoutTimeout(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		handler(w, r)
	}
}

func answer(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
