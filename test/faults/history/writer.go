package history

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

// writerOf returns the request that stored a version, out of all requests whose answer has this version. A request that
// changes nothing is also answered with the current version: if it began after another of these requests was answered,
// it is not the writer. Of requests that were in progress at the same time, the writer is the one whose field manager
// wrote last according to managedFields. If two wrote in the same second, the result is nil, because managedFields is
// not more exact. A deletion does not change managedFields, so its writer is the request that was answered first.
func writerOf(answered []*audit.Request) *audit.Request {
	first := slices.MinFunc(answered, func(a, b *audit.Request) int { return a.Answered.Compare(b.Answered) })
	if first.Verb == "delete" {
		return first
	}
	together := slices.DeleteFunc(slices.Clone(answered), func(q *audit.Request) bool {
		return q != first && !q.Received.Before(first.Answered)
	})
	slices.SortStableFunc(together, func(a, b *audit.Request) int { return lastWrite(b).Compare(lastWrite(a)) })
	if len(together) > 1 && lastWrite(together[0]).Equal(lastWrite(together[1])) {
		return nil
	}
	return together[0]
}

// lastWrite returns when the field manager of a request last changed the object, according to the object in the answer.
func lastWrite(q *audit.Request) time.Time {
	var object struct{ Metadata metav1.ObjectMeta }
	if json.Unmarshal(q.Stored, &object) != nil {
		return time.Time{}
	}
	last := time.Time{}
	for _, entry := range object.Metadata.ManagedFields {
		if entry.Manager == managerOf(q) && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// managerOf returns the field manager of a request. If the request has none, the API server uses the program's name.
func managerOf(q *audit.Request) string {
	program, _, _ := strings.Cut(q.UserAgent, "/")
	return cmp.Or(q.FieldManager(), program)
}
