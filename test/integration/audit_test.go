package integration

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// request is what the tests look at of an audit event.
type request struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// String reads like "patch memcacheds/status 200".
func (r request) String() string {
	resource := r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		resource += "/" + r.ObjectRef.Subresource
	}
	verdict := ""
	if r.ResponseStatus.Code >= 400 {
		verdict = " (failed)"
	}
	return r.Verb + " " + resource + verdict
}

// requests returns what the operator asked of a namespace so far: all but leases, events, and the lists and
// watches that fill its cache.
func (l *auditLog) requests(t *testing.T, namespace string) []string {
	t.Helper()
	var requests []string
	for _, r := range l.read() {
		if r.ObjectRef.Namespace == namespace && !background(r) {
			requests = append(requests, r.String())
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
			requests = append(requests, r.String())
		}
	}
	return requests
}

func (l *auditLog) read() []request {
	file, err := os.Open(l.path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var requests []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // A line that is still being written.
		}
		requests = append(requests, r)
	}
	return requests
}

func background(r request) bool {
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
