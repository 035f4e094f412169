package consistent

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// apiServer has Memcacheds, one clock of resource versions, and a cache that a stream of events fills for each namespace.
type apiServer struct {
	client.Client

	scheme *runtime.Scheme
	client *Client // is notified about each object that the cache shows

	mu             sync.Mutex
	revision       int
	stored, cached map[client.ObjectKey]*cachev1.Memcached
	liveReads      int

	// answering is how long the answer to a write takes, after the stream has sent the event.
	answering time.Duration

	// delay is how much the stream of a namespace is behind; nil if the streams stand still.
	delay   func(namespace string) time.Duration
	streams map[string]chan func()
}

func newAPIServer(t *testing.T, delay func(string) time.Duration) (*apiServer, *Client) {
	t.Helper()
	s := &apiServer{
		scheme: runtime.NewScheme(), delay: delay, streams: map[string]chan func(){},
		stored: map[client.ObjectKey]*cachev1.Memcached{}, cached: map[client.ObjectKey]*cachev1.Memcached{},
	}
	if err := cachev1.AddToScheme(s.scheme); err != nil {
		t.Fatal(err)
	}
	c := NewClient(s, liveReader{of: s}, func(_ schema.GroupKind, set labels.Set) bool { return set["hidden"] == "" })
	s.client = c
	t.Cleanup(func() {
		for _, stream := range s.streams {
			close(stream)
		}
	})
	return s, c
}

func (s *apiServer) Scheme() *runtime.Scheme { return s.scheme }

func (s *apiServer) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	return s.read(s.cached, key, object)
}

func (s *apiServer) read(from map[client.ObjectKey]*cachev1.Memcached, key client.ObjectKey, object client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := from[key]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "memcacheds"}, key.Name)
	}
	found.DeepCopyInto(object.(*cachev1.Memcached))
	return nil
}

// Patch stores the object as it is. An object that does not change keeps its version.
func (s *apiServer) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	defer time.Sleep(s.answering)
	s.mu.Lock()
	defer s.mu.Unlock()
	mc, key := object.(*cachev1.Memcached), client.ObjectKeyFromObject(object)
	before, known := s.stored[key]
	if known && *before.Spec.Size == *mc.Spec.Size {
		before.DeepCopyInto(mc)
		return nil
	}
	s.revision++
	mc.ResourceVersion, mc.UID = strconv.Itoa(s.revision), types.UID(fmt.Sprint("made in ", s.revision))
	if known {
		mc.UID = before.UID
	}
	s.stored[key] = mc.DeepCopy()
	s.report(key, mc.DeepCopy(), known)
	return nil
}

func (s *apiServer) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	deleted, known := s.stored[key]
	if !known {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "memcacheds"}, key.Name)
	}
	delete(s.stored, key)
	s.revision++
	deleted = deleted.DeepCopy()
	deleted.ResourceVersion = strconv.Itoa(s.revision)
	s.send(key.Namespace, func() {
		s.show(key, nil)
		s.client.Predicate().Delete(event.DeleteEvent{Object: deleted})
	})
	return nil
}

func (s *apiServer) report(key client.ObjectKey, now *cachev1.Memcached, known bool) {
	s.send(key.Namespace, func() {
		s.show(key, now)
		if known {
			s.client.Predicate().Update(event.UpdateEvent{ObjectOld: now, ObjectNew: now})
		} else {
			s.client.Predicate().Create(event.CreateEvent{Object: now})
		}
	})
}

func (s *apiServer) show(key client.ObjectKey, now *cachev1.Memcached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.cached, key); now != nil {
		s.cached[key] = now
	}
}

// send delivers an event through the stream of a namespace.
func (s *apiServer) send(namespace string, deliver func()) {
	if s.delay == nil {
		return
	}
	if s.streams[namespace] == nil {
		stream := make(chan func(), 1000)
		s.streams[namespace] = stream
		go func() {
			for deliver := range stream {
				time.Sleep(s.delay(namespace))
				deliver()
			}
		}()
	}
	s.streams[namespace] <- deliver
}

// liveReader reads the stored objects, without the cache.
type liveReader struct {
	client.Reader
	of *apiServer
}

func (r liveReader) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	r.of.liveReads++
	return r.of.read(r.of.stored, key, object)
}

func memcached(namespace, name string, size int32) *cachev1.Memcached {
	return &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       cachev1.MemcachedSpec{Size: &size},
	}
}

func (c *Client) write(t *testing.T, mc *cachev1.Memcached) {
	t.Helper()
	if err := c.Patch(t.Context(), mc, client.Merge); err != nil {
		t.Error(err)
	}
}

func (c *Client) remove(t *testing.T, mc *cachev1.Memcached) {
	t.Helper()
	if err := c.Delete(t.Context(), mc); err != nil {
		t.Error(err)
	}
}

func (c *Client) read(t *testing.T, mc *cachev1.Memcached) (*cachev1.Memcached, error) {
	t.Helper()
	found := &cachev1.Memcached{}
	return found, c.Get(t.Context(), client.ObjectKeyFromObject(mc), found)
}
