package app

// The clock of the API server, from the header Date of its answers.

import (
	"net/http"
	"sync/atomic"
	"time"
)

// serverClock returns the time by the API server's clock, which may differ from the operator's. Each answer of the API
// server has its time in the header Date, in whole seconds. Before the first answer, serverClock returns the time by
// the operator's own clock.
type serverClock struct {
	ahead atomic.Int64 // nanoseconds
}

func (c *serverClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// listen returns a transport that records the time of each answer.
func (c *serverClock) listen(next http.RoundTripper) http.RoundTripper {
	return listener{RoundTripper: next, clock: c}
}

type listener struct {
	http.RoundTripper
	clock *serverClock
}

// RoundTrip implements http.RoundTripper.
func (l listener) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			l.clock.ahead.Store(int64(time.Until(date)))
		}
	}
	return response, err
}

// WrappedRoundTripper gives client-go the wrapped transport, for example to close idle connections.
func (l listener) WrappedRoundTripper() http.RoundTripper { return l.RoundTripper }
