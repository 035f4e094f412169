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

// isShownBy compares the write with the cached object, which is nil if it does not exist.
func (r *record) isShownBy(cached metav1.Object) bool {
	switch {
	case r.version == "":
		return cached == nil || cached.GetUID() != r.uid || !cached.GetDeletionTimestamp().IsZero()
	case cached == nil:
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), r.version)
	return err != nil || order >= 0 // A version without an order cannot be waited for.
}

// isOverBy reports whether the event of a deletion ends the wait. Without the object's last state, such an event has
// an old version.
func (r *record) isOverBy(deleted metav1.Object, withoutLastState bool) bool {
	if r.version == "" || withoutLastState {
		return deleted.GetUID() == r.uid
	}
	return r.isShownBy(deleted)
}

// records holds the writes that the cache does not show yet.
type records struct {
	mu sync.Mutex
	of map[identity]*record
}

// note remembers a write. Readers that wait for an earlier write of the object check again.
func (r *records) note(id identity, uid types.UID, version string) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if earlier := r.of[id]; earlier != nil {
		close(earlier.seen)
	}
	noted := &record{uid: uid, version: version, seen: make(chan struct{})}
	r.of[id] = noted
	return noted
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

func (r *records) isEmpty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.of) == 0
}
