package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	auditlog "github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// auditLog reads the API server's audit log.
type auditLog struct {
	auditlog.Log

	policy string

	mu       sync.Mutex
	requests []auditlog.Request // the requests up to the offset end
	end      int64
}

func newAuditLog(dir string) *auditLog {
	log := &auditLog{Log: auditlog.Log{Path: filepath.Join(dir, "audit.log")}, policy: filepath.Join(dir, "audit-policy.yaml")}
	if err := os.WriteFile(log.policy, []byte(history.AuditPolicy(operatorUser, clusterOperatorUser)), 0o600); err != nil {
		panic(err)
	}
	return log
}

// describe returns a text like "patch memcacheds/status" or "patch services (failed)".
func describe(r auditlog.Request) string {
	failed := ""
	if r.Response.Code >= 400 {
		failed = " (failed)"
	}
	return r.Verb + " " + r.Resource() + failed
}

// requestsOf returns the operator's requests for a namespace so far: all except leases, events, and the lists and
// watches that fill the operator's cache of objects.
func (l *auditLog) requestsOf(t *testing.T, namespace string) []string {
	t.Helper()
	var requests []string
	for _, r := range l.read() {
		if r.ObjectRef.Namespace == namespace && isOperators(r) && !background(r) {
			requests = append(requests, describe(r))
		}
	}
	return requests
}

// clusterWide returns the requests for resources of all namespaces that came from operators which serve only some
// namespaces.
func (l *auditLog) clusterWide() []string {
	var requests []string
	for _, r := range l.read() {
		self := strings.HasPrefix(r.ObjectRef.Resource, "selfsubject") // Every user may request these reviews.
		if r.User.Username == operatorUser && r.ObjectRef.Resource != "" && r.ObjectRef.Namespace == "" && !self {
			requests = append(requests, describe(r))
		}
	}
	return requests
}

func isOperators(r auditlog.Request) bool {
	return r.User.Username == operatorUser || r.User.Username == clusterOperatorUser
}

// read returns all requests so far. Each is read from the file once.
func (l *auditLog) read() []auditlog.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	requests, end, err := l.Read(l.end)
	if err != nil {
		panic(err)
	}
	l.requests, l.end = append(l.requests, requests...), end
	return slices.Clip(l.requests)
}

// namespaceLog has the requests of one namespace.
type namespaceLog struct {
	*auditLog

	namespace string
}

// Read implements history.Log. It ignores the offset, and always returns all requests.
func (l namespaceLog) Read(int64) (requests []auditlog.Request, end int64, err error) {
	for _, r := range l.read() {
		if r.ObjectRef.Namespace == l.namespace {
			requests = append(requests, r)
		}
	}
	return requests, 0, nil
}

func background(r auditlog.Request) bool {
	return r.Verb == "list" || r.Verb == "watch" || slices.Contains([]string{"leases", "events"}, r.ObjectRef.Resource)
}

// count returns how many of the requests begin with the prefix.
func count(requests []string, prefix string) int {
	n := 0
	for _, request := range requests {
		if strings.HasPrefix(request, prefix) {
			n++
		}
	}
	return n
}
