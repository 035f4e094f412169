//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// request is what the API server's audit log says of a request.
type request struct {
	Verb      string
	URI       string `json:"requestURI"`
	User      struct{ Username string }
	ObjectRef struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	Response  struct{ Code int } `json:"responseStatus"`
	Ended     time.Time          `json:"stageTimestamp"`
}

func (r request) String() string {
	object := strings.Trim(r.ObjectRef.Namespace+"/"+r.ObjectRef.Name, "/")
	return fmt.Sprintf("%s %s %s by %s", r.Verb, r.resource(), object, r.User.Username)
}

func (r request) resource() string {
	return strings.Trim(r.ObjectRef.Resource+"/"+r.ObjectRef.Subresource, "/")
}

func (r request) is(verb, resource, user string) bool {
	return r.Verb == verb && r.resource() == resource && r.User.Username == user
}

// writes reports whether the request was to change something, and was not refused.
func (r request) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb) &&
		!strings.Contains(r.URI, "dryRun=All") && r.Response.Code < 300
}

// auditEnd is how far the audit log goes just now.
func (s *site) auditEnd(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(s.Cluster.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// writesSince reads the successful writes from the audit log, from a place in it on.
func (s *site) writesSince(t *testing.T, offset int64) []request {
	t.Helper()
	file, err := os.Open(s.Cluster.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var writes []request
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return writes // What is left is a line half written.
		}
		if err != nil {
			t.Fatal(err)
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if r.writes() {
			writes = append(writes, r)
		}
	}
}
