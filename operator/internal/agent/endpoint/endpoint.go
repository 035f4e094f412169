// Package endpoint serves the probes and metrics of a program of the agent to Kubernetes and Prometheus, over plain
// HTTP.
package endpoint

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

// MaxConnections limits the connections, and so the memory that clients can use.
const MaxConnections = 16

// Serve serves over plain HTTP until the context ends, and then finishes requests in progress.
func Serve(ctx context.Context, address string, handler http.Handler) error {
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
	go func() { ended <- server.Serve(netutil.LimitListener(listener, MaxConnections)) }()
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

// Metrics returns a handler that answers GET /metrics with the samples.
func Metrics(samples func(context.Context) []exporter.Sample) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = exporter.Write(w, samples(r.Context())) // an error means that the client has disconnected
	})
	return mux
}

// Probes returns a handler that answers whether the program runs, and whether it has started. The caller can add more
// paths.
func Probes(started func() error) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", Answer(func() error { return nil }))
	mux.HandleFunc("GET /started", Answer(started))
	return mux
}

// Answer returns a handler that answers 200 unless a check fails.
func Answer(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
