package history

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// source reads the states of a resource: from the API server, or in tests from a fake.
type source interface {
	List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// selected is a source of only the objects with these labels.
type selected struct {
	source

	labels string
}

func (s selected) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	o.LabelSelector = s.labels
	return s.source.List(ctx, o)
}

func (s selected) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.LabelSelector = s.labels
	return s.source.Watch(ctx, o)
}

// follower records the states of a resource. An API server that has restarted does not have the events from before, so
// the follower lists the objects again. It misses the states in between, but the audit log has their writes (see fill).
type follower struct {
	source
	add     func(Entry)
	version string // resource version of the last event
	stored  map[types.UID]*unstructured.Unstructured
}

// retryPause is short: the more states are seen, the better.
const retryPause = 50 * time.Millisecond

func (f *follower) start(ctx context.Context) error {
	f.stored = map[types.UID]*unstructured.Unstructured{}
	list, err := f.List(ctx, metav1.ListOptions{})
	if err == nil {
		f.version = list.GetResourceVersion()
	}
	return err
}

// run records states until the context ends.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		if f.watch(ctx) {
			f.list(ctx)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

// watch records events until the watch ends. It reports whether the API server no longer has the events after the last
// one.
func (f *follower) watch(ctx context.Context) (expired bool) {
	events, err := f.Watch(ctx, metav1.ListOptions{ResourceVersion: f.version, AllowWatchBookmarks: true})
	if err != nil {
		return isExpired(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if event.Type == watch.Error || !ok {
			return isExpired(apierrors.FromObject(event.Object))
		}
		f.version = object.GetResourceVersion()
		if event.Type != watch.Bookmark {
			f.record(event.Type, object)
		}
	}
	return false
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

func (f *follower) record(kind watch.EventType, object *unstructured.Unstructured) {
	if object.GetKind() == "Secret" {
		object = object.DeepCopy() // A history may be published, so it must not contain the content of Secrets.
		delete(object.Object, "data")
	}
	f.stored[object.GetUID()] = object
	if kind == watch.Deleted {
		delete(f.stored, object.GetUID())
	}
	f.add(Entry{Time: time.Now(), State: &State{Type: kind, Object: object}})
}

// list records the objects that changed since the last event, and those that were deleted.
func (f *follower) list(ctx context.Context) {
	list, err := f.List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	f.version = list.GetResourceVersion()
	listed := map[types.UID]bool{}
	for i := range list.Items {
		object := &list.Items[i]
		listed[object.GetUID()] = true
		switch before := f.stored[object.GetUID()]; {
		case before == nil:
			f.record(watch.Added, object)
		case before.GetResourceVersion() != object.GetResourceVersion():
			f.record(watch.Modified, object)
		}
	}
	for uid, object := range f.stored {
		if !listed[uid] {
			deleted := object.DeepCopy()
			deleted.SetResourceVersion(f.version) // It was deleted at this version at the latest.
			f.record(watch.Deleted, deleted)
		}
	}
}
