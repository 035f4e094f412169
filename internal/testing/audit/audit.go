// Package audit reads the API server's audit log, for tests that count requests.
package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Request is what the API server logged about one request.
type Request struct {
	Verb      string
	URI       string `json:"requestURI"`
	User      struct{ Username string }
	UserAgent string
	ObjectRef struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	Response  struct{ Code int } `json:"responseStatus"`
	Body      json.RawMessage    `json:"requestObject,omitempty"`  // at the policy's levels Request and RequestResponse
	Stored    json.RawMessage    `json:"responseObject,omitempty"` // only at the policy's level RequestResponse
	Received  time.Time          `json:"requestReceivedTimestamp"`
	Answered  time.Time          `json:"stageTimestamp"` // if the policy logs only the stage ResponseComplete
}

// Resource reads like "memcacheds/status".
func (r Request) Resource() string {
	return strings.Trim(r.ObjectRef.Resource+"/"+r.ObjectRef.Subresource, "/")
}

// FieldManager returns the parameter fieldManager of the request, or an empty string if it has none.
func (r Request) FieldManager() string {
	_, after, _ := strings.Cut(r.URI, "fieldManager=")
	manager, _, _ := strings.Cut(after, "&")
	return manager
}

// String reads like "patch memcacheds/status 200".
func (r Request) String() string {
	return fmt.Sprintf("%s %s %d", r.Verb, r.Resource(), r.Response.Code)
}

// Log is an audit log in a file. A file that does not exist yet is an empty log.
type Log struct{ Path string }

// End returns where the log ends now.
func (l Log) End() (int64, error) {
	info, err := os.Stat(l.Path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Read returns the requests from an offset to the last complete line, and where that line ends.
func (l Log) Read(offset int64) (requests []Request, end int64, err error) {
	file, err := os.Open(l.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, offset, nil
	}
	if err != nil {
		return nil, offset, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, err
	}
	lines := bufio.NewReader(file)
	for end = offset; ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests, end, nil
		}
		if err != nil {
			return requests, end, err
		}
		var request Request
		switch err := json.Unmarshal(line, &request); {
		case err == nil:
			requests = append(requests, request)
		case end != offset || offset == 0: // The offset may be in the middle of a line.
			return requests, end, fmt.Errorf("%s: %w", l.Path, err)
		}
		end += int64(len(line))
	}
}

// interval is how often Await reads the log.
const interval = 2 * time.Millisecond

// Await waits until a request after the offset meets a condition. It checks each request once, in order.
func (l Log) Await(ctx context.Context, offset int64, timeout time.Duration, meets func(Request) bool) error {
	return wait.PollUntilContextTimeout(ctx, interval, timeout, true, func(context.Context) (bool, error) {
		requests, end, err := l.Read(offset)
		offset = end
		return slices.ContainsFunc(requests, meets), err
	})
}
