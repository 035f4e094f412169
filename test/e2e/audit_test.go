//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

// request is a request in the API server's audit log.
type request struct{ audit.Request }

func (r request) String() string {
	object := strings.Trim(r.ObjectRef.Namespace+"/"+r.ObjectRef.Name, "/")
	return fmt.Sprintf("%s %s %s by %s", r.Verb, r.Resource(), object, r.User.Username)
}

func (r request) is(verb, resource, user string) bool {
	return r.Verb == verb && r.Resource() == resource && r.User.Username == user
}

// writes reports whether the request was a write, and no dry run, and the API server did not refuse it.
func (r request) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb) &&
		!strings.Contains(r.URI, "dryRun=All") && r.Response.Code < 300
}

// auditEnd returns the offset at which the audit log ends now.
func (s *site) auditEnd(t *testing.T) int64 {
	t.Helper()
	end, err := audit.Log{Path: s.Cluster.AuditLog}.End()
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// writesSince reads the successful writes from the audit log, from an offset on.
func (s *site) writesSince(t *testing.T, offset int64) []request {
	t.Helper()
	requests, _, err := audit.Log{Path: s.Cluster.AuditLog}.Read(offset)
	if err != nil {
		t.Fatal(err)
	}
	var writes []request
	for _, r := range requests {
		if write := (request{r}); write.writes() {
			writes = append(writes, write)
		}
	}
	return writes
}
