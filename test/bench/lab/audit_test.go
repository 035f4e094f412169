package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// line is one of an audit log.
func line(user, verb, resource, subresource, name string, code int) string {
	return fmt.Sprintf(`{"verb":%q,"user":{"username":%q},"objectRef":{"resource":%q,"subresource":%q,"name":%q},`+
		`"responseStatus":{"code":%d},"stageTimestamp":"2026-01-02T03:04:05.000006Z"}`+"\n",
		verb, user, resource, subresource, name, code)
}

func newAudit(t *testing.T) (*Audit, func(string)) {
	t.Helper()
	audit := &Audit{path: filepath.Join(t.TempDir(), "audit.log")}
	return audit, func(text string) {
		file, err := os.OpenFile(audit.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
}

func since(t *testing.T, audit *Audit, mark Mark) []string {
	t.Helper()
	requests, err := audit.Since(mark)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{}
	for _, request := range requests {
		words = append(words, request.String())
	}
	return words
}

func TestTheAuditLogIsReadOnFromAMark(t *testing.T) {
	audit, write := newAudit(t)
	if mark, err := audit.Now(); mark != 0 || err != nil {
		t.Errorf("Now() = %d, %v before anybody asked for anything", mark, err)
	}
	write(line(OperatorUser, "patch", "services", "", "a", 201))
	mark, err := audit.Now()
	if err != nil {
		t.Fatal(err)
	}
	status := line(OperatorUser, "patch", "memcacheds", "status", "a", 200)
	write(status[:20])
	if diff := cmp.Diff([]string{}, since(t, audit, mark)); diff != "" {
		t.Errorf("requests while a line is being written (-want +got):\n%s", diff)
	}
	write(status[20:])
	if diff := cmp.Diff([]string{"patch memcacheds/status 200"}, since(t, audit, mark)); diff != "" {
		t.Errorf("requests since the mark (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"patch services 201", "patch memcacheds/status 200"}, since(t, audit, 0)); diff != "" {
		t.Errorf("all requests (-want +got):\n%s", diff)
	}
}

func TestAwaitLooksAtEachRequestOnce(t *testing.T) {
	audit, write := newAudit(t)
	write(line(OperatorUser, "patch", "services", "", "before", 200))
	mark, err := audit.Now()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	done := make(chan error)
	go func() {
		done <- audit.Await(t.Context(), mark, time.Minute, func(request Request) bool {
			seen = append(seen, request.Object.Name)
			return request.Object.Name == "last"
		})
	}()
	for _, name := range []string{"first", "second", "last"} {
		write(line(administrator, "delete", "services", "", name, 200))
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first", "second", "last"}, seen); diff != "" {
		t.Errorf("requests that were looked at (-want +got):\n%s", diff)
	}
	if err := audit.Await(t.Context(), mark, 2*look, func(Request) bool { return false }); err == nil {
		t.Error("Await() ends well although nothing fulfils its condition")
	}
}

func TestBackgroundRequests(t *testing.T) {
	tests := map[string]struct {
		verb, resource     string
		background, itself bool
	}{
		"a watch goes on":                          {"watch", "pods", true, false},
		"the lease is renewed":                     {"update", "leases", true, false},
		"an event is told":                         {"create", "events", true, false},
		"a write is no background":                 {"patch", "deployments", false, false},
		"a list is no background":                  {"list", "deployments", false, false},
		"what it may do, an operator asks once":    {"create", "selfsubjectaccessreviews", false, true},
		"what kinds there are, it asks by no name": {"get", "", false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var request Request
			request.Verb, request.Object.Resource = tc.verb, tc.resource
			if request.IsBackground() != tc.background || request.IsAboutItself() != tc.itself {
				t.Errorf("background %t, about itself %t", request.IsBackground(), request.IsAboutItself())
			}
		})
	}
}
