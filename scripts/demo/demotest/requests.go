package demotest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Requests are those that came through the proxy.
type Requests struct {
	mu      sync.Mutex
	all     int
	changes []string
}

// proxy forwards requests with the rights of config.
func (r *Requests) proxy(config *rest.Config) (*httptest.Server, error) {
	to, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(request *httputil.ProxyRequest) { request.SetURL(to) },
		Transport: transport,
		ErrorLog:  log.New(io.Discard, "", 0), // A client that goes away is no news.
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.remember(request)
		forward.ServeHTTP(w, request)
	})), nil
}

func (r *Requests) remember(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all++
	asks := strings.HasSuffix(request.URL.Path, "accessreviews")
	tries := request.URL.Query().Get("dryRun") == "All"
	if request.Method != http.MethodGet && !asks && !tries {
		r.changes = append(r.changes, request.Method+" "+request.URL.Path)
	}
}

// Take returns how many requests there were since the last call, and those that change something.
func (r *Requests) Take() (all int, changes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, changes = r.all, r.changes
	r.all, r.changes = 0, nil
	return all, changes
}
