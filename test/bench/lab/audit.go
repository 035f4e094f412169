package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// OperatorUser is the operator's own service account.
const OperatorUser = "system:serviceaccount:" + Namespace + ":memcached-operator-controller-manager"

// administrator is whom the bench acts as.
const administrator = "admin"

// auditPolicy notes each request of the operator when it is answered, and what the bench changes and takes away. What
// the bench makes is left out: that is much, and nobody looks at it.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
  - level: Metadata
    users: ["` + OperatorUser + `"]
  - level: Metadata
    users: ["` + administrator + `"]
    verbs: [patch, delete]
  - level: None
`

// Request is what the API server noted of a request.
type Request struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`

	// Answered is when the API server had answered.
	Answered time.Time `json:"stageTimestamp"`
}

// ByOperator tells whether the operator, or the floor in its place, made the request.
func (r Request) ByOperator() bool { return r.User.Username == OperatorUser }

// IsBackground tells whether a request is one of those that go on whatever happens: leases, events and watches.
func (r Request) IsBackground() bool {
	return r.Verb == "watch" || r.Object.Resource == "leases" || r.Object.Resource == "events"
}

// IsAboutItself tells whether the operator asks what it may do, or what kinds there are.
func (r Request) IsAboutItself() bool {
	return strings.HasPrefix(r.Object.Resource, "selfsubject") || r.Object.Resource == ""
}

// Kind reads like "memcacheds/status".
func (r Request) Kind() string {
	return strings.TrimSuffix(r.Object.Resource+"/"+r.Object.Subresource, "/")
}

// String reads like "patch memcacheds/status 200".
func (r Request) String() string { return fmt.Sprintf("%s %s %d", r.Verb, r.Kind(), r.Response.Code) }

// Audit is the API server's own account of requests.
type Audit struct {
	path string

	mu       sync.Mutex
	offset   int64
	requests []Request
}

// Mark is a moment in the log.
type Mark int

// Now is the moment up to which the log is written.
func (a *Audit) Now() (Mark, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.read()
	return Mark(len(a.requests)), err
}

// Since returns the requests after a moment.
func (a *Audit) Since(mark Mark) ([]Request, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.read()
	return a.requests[mark:], err
}

// look is how often the log is read on. The times in it are the API server's, so that it takes nothing from a figure.
const look = 2 * time.Millisecond

// Await waits until the requests after a moment fulfil a condition, which is asked about each of them once and in turn.
func (a *Audit) Await(ctx context.Context, since Mark, limit time.Duration, fulfils func(Request) bool) error {
	return wait.PollUntilContextTimeout(ctx, look, limit, true, func(context.Context) (bool, error) {
		requests, err := a.Since(since)
		for _, request := range requests {
			since++
			if fulfils(request) {
				return true, nil
			}
		}
		return false, err
	})
}

// read goes on where it ended. A line that is still being written it leaves for the next time.
func (a *Audit) read() error {
	file, err := os.Open(a.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // Nobody has asked for anything yet.
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return err
	}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var request Request
		if err := json.Unmarshal(line, &request); err != nil {
			return fmt.Errorf("%s: %w", a.path, err)
		}
		a.offset += int64(len(line))
		a.requests = append(a.requests, request)
	}
}
