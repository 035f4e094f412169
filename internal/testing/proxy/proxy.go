// Package proxy stands between an operator and the API server, and injects faults into requests, answers and watches.
package proxy

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Mark is in the User-Agent of each request, at its end, and is followed by the time when the operator's process
// started. So the audit log shows which process sent the request.
const Mark = " started/"

// Proxy is a running proxy. Its faults stay when a new process of the operator replaces the old one.
type Proxy struct {
	// Delayed is called for each request or watch that a fault may have delayed: once the delay is over, and with the time
	// when the delay began. Delayed must be set before the first request.
	Delayed func(what string, began time.Time)

	listener net.Listener
	server   *http.Server

	mu      sync.Mutex
	rules   []*Rule
	lates   []*Lateness
	last    time.Time // when the last request began or ended
	running int       // how many requests run, without watches

	streams map[*stream]bool
	watches []string             // resources that each process watches from its start
	watched map[string]bool      // these, and other resources that the process has watched
	blind   map[string]time.Time // the resources whose watch has ended, and when it ended
}

// Start starts a proxy to an API server. The proxy presents the config's credentials. The proxy considers a process of
// the operator to have started once the process watches the given resources.
func Start(config *rest.Config, watches ...string) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		Delayed: func(string, time.Time) {}, listener: listener,
		blind: map[string]time.Time{}, watches: watches,
	}
	p.Reset()
	reverse := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // The test makes the API server unreachable at times.
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = &http.Server{Handler: p.handler(reverse), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Close ends all connections, and frees the port.
func (p *Proxy) Close() {
	_ = p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
}

// processes is in the path of each request to the proxy, followed by the time when the sender of the request started.
const processes = "/processes/"

// Kubeconfig writes a kubeconfig for a process that connects through the proxy. The server's URL in it has the current
// time in its path, which marks each request of the process. So a late request of an earlier process keeps the time of
// that process.
func (p *Proxy) Kubeconfig(path string) error {
	server := "http://" + p.listener.Addr().String() + processes + time.Now().UTC().Format(time.RFC3339Nano)
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"proxy": {Server: server}},
		Contexts:       map[string]*clientcmdapi.Context{"proxy": {Cluster: "proxy"}},
		CurrentContext: "proxy",
	}, path)
}

func (p *Proxy) handler(apiServer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mark(r)
		request := describe(r)
		p.count(request, 1)
		defer p.count(request, -1)
		last := apiServer
		if request.Verb == "watch" {
			last = p.stream(request, apiServer)
		}
		p.chain(p.current(), request, last).ServeHTTP(w, r)
	})
}

// mark moves the time when the process started from the path to the User-Agent.
func mark(r *http.Request) {
	if path, ok := strings.CutPrefix(r.URL.Path, processes); ok {
		started, path, _ := strings.Cut(path, "/")
		r.URL.Path, r.URL.RawPath = "/"+path, ""
		r.Header.Set("User-Agent", r.UserAgent()+Mark+started)
	}
}

// count notes that a request began or ended.
func (p *Proxy) count(request Request, change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	if request.Verb != "watch" {
		p.running += change
	}
}

// Reset prepares for a new process: it ends the watches that the previous process has left.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.streams {
		s.end()
	}
	p.forget()
	p.streams, p.watched = map[*stream]bool{}, map[string]bool{}
	for _, resource := range p.watches {
		p.watched[resource] = true
	}
}

// forget reports that the delay is over for each watch that the process did not have when it ended.
func (p *Proxy) forget() {
	for resource := range p.blind {
		p.sees(resource)
	}
}

// sees notes that a resource is watched again.
func (p *Proxy) sees(resource string) {
	if since, blind := p.blind[resource]; blind {
		p.Delayed("no watch of "+resource, since)
		delete(p.blind, resource)
	}
}

// loses notes that a watch has ended.
func (p *Proxy) loses(s *stream) {
	if _, blind := p.blind[s.request.Resource]; p.streams[s] && s.began && !blind {
		p.blind[s.request.Resource] = time.Now()
	}
	delete(p.streams, s)
}

// Idle returns how long the operator has sent no request. It returns 0 while the operator starts, waits for an answer,
// or does not have a watch that it had before.
func (p *Proxy) Idle() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	watches := map[string]bool{}
	for s := range p.streams {
		watches[s.request.Resource] = s.began || watches[s.request.Resource]
	}
	for resource := range p.watched {
		if !watches[resource] {
			return 0
		}
	}
	if len(p.watched) == 0 || p.running > 0 {
		return 0
	}
	return time.Since(p.last)
}
