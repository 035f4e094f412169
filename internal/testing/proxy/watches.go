package proxy

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Lateness is a fault of watches: of those that run already, and of those that begin later.
type Lateness struct {
	Matches func(Request) bool

	// By delays each event. The order of the events stays.
	By time.Duration

	// Silent delivers nothing until the fault ends.
	Silent bool

	over    chan struct{}
	began   time.Time
	delayed bool // whether the fault delayed any event
}

// Delay adds a fault of watches.
func (p *Proxy) Delay(late *Lateness) {
	p.mu.Lock()
	defer p.mu.Unlock()
	late.over, late.began = make(chan struct{}), time.Now()
	p.lates = append(p.lates, late)
}

// Hurry ends a fault of watches: late events are delivered immediately. It reports whether the fault delayed any event.
func (p *Proxy) Hurry(late *Lateness) (delayed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.lates, late); i >= 0 {
		p.lates = slices.Delete(p.lates, i, i+1)
		close(late.over)
		p.Delayed("late events", late.began)
	}
	return late.delayed
}

// EndWatches ends the watches that run: by the error "too old resource version", or by cutting the connection. It
// reports whether there were any.
func (p *Proxy) EndWatches(matches func(Request) bool, expired bool) (ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.streams {
		if matches(s.request) {
			s.expired.Store(expired)
			s.end()
			ended = true
		}
	}
	return ended
}

// stream passes on the events of a watch.
func (p *Proxy) stream(request Request, apiServer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		defer end()
		s := &stream{request: request, proxy: p, ctx: ctx, end: end, events: make(chan event, mostEvents)}
		p.mu.Lock()
		p.streams[s] = true
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.loses(s)
		}()
		s.serve(w, r.WithContext(ctx), apiServer)
	})
}
