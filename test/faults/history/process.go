package history

import (
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/proxy"
)

// Process identifies a process of the operator by the time when it started, which the proxy adds to its requests.
type Process string

// ProcessOf returns which process sent a request; empty if it did not pass a proxy.
func ProcessOf(q *audit.Request) Process {
	_, started, _ := strings.Cut(q.UserAgent, proxy.Mark)
	return Process(started)
}

// Started returns when the process started; the zero time if that is unknown.
func (p Process) Started() time.Time {
	started, _ := time.Parse(time.RFC3339Nano, string(p))
	return started
}
