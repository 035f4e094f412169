// Package reporting plays the agents of simulated Pods when they report how clients use memcached. Nothing listens on
// the addresses of simulated Pods, so the operator connects to them through a proxy, and the proxy answers for all
// agents. This package follows the operator's documentation, and uses none of the operator's code.
package reporting

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// These are the port and the path at which agents report, as in the operator's documentation.
const (
	port = "9151"
	path = "/usage"
)

// Agents is the proxy that answers for all agents.
type Agents struct {
	server   *http.Server
	listener net.Listener
	reads    atomic.Int64
}

// Report returns what the agent in the Pod with this address reports, and whether the agent answers.
type Report func(ctx context.Context, address string) (report string, answers bool)

// Start starts the proxy.
func Start(report Report) (*Agents, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &Agents{listener: listener}
	a.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(response http.ResponseWriter, request *http.Request) {
			a.reads.Add(1)
			content, answers := "", request.URL.Port() == port && request.URL.Path == path
			if answers {
				content, answers = report(request.Context(), request.URL.Hostname())
			}
			if !answers {
				http.Error(response, "nothing here", http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(response, content)
		},
	)}
	go func() { _ = a.server.Serve(listener) }()
	return a, nil
}

// URL is what the operator's flag --usage-proxy takes.
func (a *Agents) URL() string { return "http://" + a.listener.Addr().String() }

// Reads returns how many requests the operator has sent.
func (a *Agents) Reads() int64 { return a.reads.Load() }

// Stop ends the proxy. It does nothing if the Agents are nil.
func (a *Agents) Stop() {
	if a != nil {
		_ = a.server.Close()
	}
}
