package access

// Names what a command waits for.

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Patience prints a line once if the API server keeps a user waiting: several slow answers in a row count as one wait.
type Patience struct {
	Out  io.Writer
	Host string

	// After is how long the user waits until the line is printed.
	After time.Duration

	mu       sync.Mutex
	waiting  int // requests without an answer
	began    time.Time
	answered time.Time
	printed  bool
}

// pause separates two waits: another wait begins if the command sent no request for this long after the last answer,
// for example because it printed something.
const pause = 100 * time.Millisecond

// Watch makes p watch the requests of a configuration.
func (p *Patience) Watch(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return patient{Patience: p, next: next} })
}

type patient struct {
	*Patience

	next http.RoundTripper
}

// RoundTrip sends a request.
func (p patient) RoundTrip(request *http.Request) (*http.Response, error) {
	timer := time.AfterFunc(p.begin(time.Now()), p.print)
	defer p.end()
	defer timer.Stop()
	return p.next.RoundTrip(request)
}

// WrappedRoundTripper returns the transport, which client-go needs to cancel a request.
func (p patient) WrappedRoundTripper() http.RoundTripper { return p.next }

var _ net.RoundTripperWrapper = patient{}

// begin begins a request, and returns how long its answer may take until the line is printed.
func (p *Patience) begin(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == 0 && now.Sub(p.answered) > pause {
		p.began = now
	}
	p.waiting++
	return p.After - now.Sub(p.began)
}

func (p *Patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	p.answered = time.Now()
}

func (p *Patience) print() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.printed {
		p.printed = true
		fmt.Fprintf(p.Out, "Waiting for the API server %s (--request-timeout limits it)\n", p.Host)
	}
}
