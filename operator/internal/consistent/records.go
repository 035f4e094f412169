package consistent

// Remembers the last write of each object until the cache shows it.

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// identity identifies an object.
type identity struct {
	kind schema.GroupVersionKind
	key  types.NamespacedName
}

// record is the last write of an object, until the cache shows it.
type record struct {
	uid types.UID

	// version is the resulting resource version; empty after a deletion.
	version string

	// seen is closed when the cache shows the write.
	seen chan struct{}
}

// isShownBy reports whether the cached object, which is nil if it does not exist, is the result of the write or newer.
func (r *record) isShownBy(cached metav1.Object) bool {
	switch {
	case r.version == "":
		return cached == nil || cached.GetUID() != r.uid || !cached.GetDeletionTimestamp().IsZero()
	case cached == nil:
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), r.version)
	return err != nil || order >= 0 // It is no use to wait for a version that can't be compared.
}

// isOverBy reports whether the event of a deletion ends the wait. An event that does not have the object's last state
// has an old version.
func (r *record) isOverBy(deleted metav1.Object, withoutLastState bool) bool {
	if r.version == "" || withoutLastState {
		return deleted.GetUID() == r.uid
	}
	return r.isShownBy(deleted)
}

// records has the writes that the cache does not show yet, and the writes that have no answer yet.
type records struct {
	mu         sync.Mutex
	of         map[identity]*record
	unanswered map[identity]*unanswered
}

// unanswered are the writes of an object whose answers have not arrived yet. The event of the object's deletion may
// arrive before these answers.
type unanswered struct {
	count int

	// deletion reports whether the last deletion of the object ends the wait for a write; nil if no deletion was
	// reported.
	deletion func(*record) bool
}

func newRecords() records {
	return records{of: map[identity]*record{}, unanswered: map[identity]*unanswered{}}
}

// begin records that a write is about to be sent, and end that its answer was recorded.
func (r *records) begin(id identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unanswered[id] == nil {
		r.unanswered[id] = &unanswered{}
	}
	r.unanswered[id].count++
}

func (r *records) end(id identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unanswered[id].count--; r.unanswered[id].count == 0 {
		delete(r.unanswered, id)
	}
}

// note remembers a write, unless the object was deleted since. Readers that wait for an earlier write check again.
func (r *records) note(id identity, uid types.UID, version string) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if earlier := r.of[id]; earlier != nil {
		close(earlier.seen)
		delete(r.of, id)
	}
	noted := &record{uid: uid, version: version, seen: make(chan struct{})}
	if u := r.unanswered[id]; u == nil || u.deletion == nil || !u.deletion(noted) {
		r.of[id] = noted
	}
	return noted
}

// hear drops the record of an object if an event ends the wait for the recorded write.
func (r *records) hear(id identity, ends func(*record) bool) {
	if awaited := r.find(id); awaited != nil && ends(awaited) {
		r.drop(id, awaited)
	}
}

// hearDeletion remembers the deletion of an object for writes whose answer comes later.
func (r *records) hearDeletion(id identity, ends func(*record) bool) {
	r.mu.Lock()
	if u := r.unanswered[id]; u != nil {
		u.deletion = ends
	}
	r.mu.Unlock()
	r.hear(id, ends)
}

// find returns the write that the cache does not show yet, or nil.
func (r *records) find(id identity) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id]
}

// drop forgets a write that the cache shows, if it is still the last one.
func (r *records) drop(id identity, shown *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of[id] == shown {
		close(shown.seen)
		delete(r.of, id)
	}
}

// isEmpty reports whether no write waits for its answer or for an event, so that no event matters.
func (r *records) isEmpty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.of) == 0 && len(r.unanswered) == 0
}
