package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	auditlog "github.com/example-inc/memcached-operator/internal/testing/audit"
)

// auditPolicy notes each request of the operator when it is answered, and of nobody else.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ["` + operatorUser + `", "` + clusterOperatorUser + `"]
  - level: None
`

// auditLog is the API server's own account of the requests that reached it.
type auditLog struct {
	path, policy string
}

func newAuditLog(dir string) *auditLog {
	log := &auditLog{path: filepath.Join(dir, "audit.log"), policy: filepath.Join(dir, "audit-policy.yaml")}
	if err := os.WriteFile(log.policy, []byte(auditPolicy), 0o600); err != nil {
		panic(err)
	}
	return log
}

// describe reads like "patch memcacheds/status", and "patch services (failed)".
func describe(r auditlog.Request) string {
	failed := ""
	if r.Response.Code >= 400 {
		failed = " (failed)"
	}
	return r.Verb + " " + r.Resource() + failed
}

// requests returns what the operator asked of a namespace so far: all but leases, events, and the lists and
// watches that fill its cache.
func (l *auditLog) requests(t *testing.T, namespace string) []string {
	t.Helper()
	var requests []string
	for _, r := range l.read() {
		if r.ObjectRef.Namespace == namespace && !background(r) {
			requests = append(requests, describe(r))
		}
	}
	return requests
}

// clusterWide returns the requests for resources of all namespaces by operators that serve only some.
func (l *auditLog) clusterWide() []string {
	var requests []string
	for _, r := range l.read() {
		self := strings.HasPrefix(r.ObjectRef.Resource, "selfsubject") // Asking what one may do is allowed to anybody.
		if r.User.Username == operatorUser && r.ObjectRef.Resource != "" && r.ObjectRef.Namespace == "" && !self {
			requests = append(requests, describe(r))
		}
	}
	return requests
}

func (l *auditLog) read() []auditlog.Request {
	requests, _, err := auditlog.Log{Path: l.path}.Read(0)
	if err != nil {
		panic(err)
	}
	return requests
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
