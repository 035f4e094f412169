// Package proxy stands between an operator and the API server, and passes on what a run lets pass.
package proxy

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Mark, and the time when the proxy started, end the User-Agent of each request, so that the audit log shows which
// process of the operator sent it.
const Mark = " started/"

// Rule is a fault that the proxy injects into some requests.
type Rule struct {
	// Matches says which requests are concerned.
	Matches func(*http.Request) bool

	// Handle answers a request instead of the API server. To pass it on, it calls next. To cut the connection, it
	// panics with http.ErrAbortHandler.
	Handle func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

// Proxy is a running proxy.
type Proxy struct {
	config   *rest.Config
	listener net.Listener
	server   *http.Server

	mu    sync.Mutex
	rules []*Rule
	last  time.Time // of the last request
}

// Start starts a proxy to an API server, which presents the config's credentials.
func Start(config *rest.Config) (*Proxy, error) {
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
	p := &Proxy{config: config, listener: listener}
	mark := Mark + time.Now().UTC().Format(time.RFC3339Nano)
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("User-Agent", r.In.UserAgent()+mark)
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = &http.Server{Handler: p.handler(reverse), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Close ends all connections.
func (p *Proxy) Close() { _ = p.server.Close() }

// Add adds a rule, before all others, and returns what removes it.
func (p *Proxy) Add(rule Rule) (remove func()) {
	added := &rule
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = slices.Insert(p.rules, 0, added)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rules = slices.DeleteFunc(p.rules, func(r *Rule) bool { return r == added })
	}
}

// Kubeconfig writes one for an operator that connects through the proxy.
func (p *Proxy) Kubeconfig(path string) error {
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"proxy": {Server: "http://" + p.listener.Addr().String()}},
		Contexts:       map[string]*clientcmdapi.Context{"proxy": {Cluster: "proxy"}},
		CurrentContext: "proxy",
	}, path)
}

func (p *Proxy) handler(apiServer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rule := p.find(r); rule != nil {
			rule.Handle(w, r, apiServer)
			return
		}
		apiServer.ServeHTTP(w, r)
	})
}

func (p *Proxy) find(r *http.Request) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	for _, rule := range p.rules {
		if rule.Matches(r) {
			return rule
		}
	}
	return nil
}

// Idle returns for how long the operator has sent no request.
func (p *Proxy) Idle() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.last)
}

// IsWrite leaves out events: they are no part of the work.
func IsWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/events")
}

// IsWatch reports whether the request is one.
func IsWatch(r *http.Request) bool {
	return r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1"
}
