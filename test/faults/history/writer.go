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

// writerOf returns the request that stored a version, of all that were answered with it: a request that changes nothing
// is answered with the version that it finds. A request that began after another one had its answer found the version
// of that one. Of those that were in progress at the same time, the writer is the one whose field manager wrote last;
// nil if two wrote in the same second, because managedFields is not more exact. A deletion changes nothing there: the
// first that had its answer is the writer.
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

// lastWrite returns when the field manager of a request last changed the object, by what the request was answered with.
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

// managerOf returns the field manager of a request: the API server takes the program's name if the request has none.
func managerOf(q *audit.Request) string {
	program, _, _ := strings.Cut(q.UserAgent, "/")
	return cmp.Or(q.FieldManager(), program)
}
