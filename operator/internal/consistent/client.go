// Package consistent makes reads from the cache include the operator's own writes. A decision on an older state would
// repeat or revert a write.
//
// Each object has its own record: the resource version of its last write. So it does not matter how many informers fill
// the cache, or how late each of them is.
package consistent

// A client whose reads from the cache include its own writes.

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// patience is how long a read waits for the cache before it reads from the API server. A watch normally delivers a
// write within milliseconds.
const patience = 5 * time.Second

// Client writes objects, remembers their versions, and reads them from the cache. It remembers the writes that the
// operator makes: Apply, Patch, Delete and Status().Patch.
type Client struct {
	client.Client

	live    client.Reader
	cached  Cached
	records records
}

// Cached reports whether the cache holds objects of a kind with these labels. Reads of other objects do not wait.
type Cached func(kind schema.GroupKind, labels labels.Set) bool

// NewClient returns a Client that writes with the upstream client and reads from its cache. If the cache does not
// show a write in time, it reads with the live reader. Predicate must report the cache's events to the Client.
func NewClient(upstream client.Client, live client.Reader, cached Cached) *Client {
	return &Client{Client: upstream, live: live, cached: cached, records: newRecords()}
}

// Get reads from the cache. If the cache is older than the last write of the object, Get waits.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if c.records.isEmpty() {
		return c.Client.Get(ctx, key, object, opts...)
	}
	id, err := c.identify(object, key)
	if err != nil {
		return err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		awaited := c.records.find(id) // This comes first, because the cache may not have later writes.
		err := c.Client.Get(ctx, key, object, opts...)
		switch {
		case awaited == nil, err != nil && !apierrors.IsNotFound(err):
			return err
		case awaited.isShownBy(unlessMissing(object, err)):
			c.records.drop(id, awaited)
			return err
		}
		select {
		case <-awaited.seen:
		case <-late.C:
			return c.readLive(ctx, id, object, awaited, err)
		case <-ctx.Done():
			return fmt.Errorf("wait until the cache has the last write of %s %s: %w", id.kind.Kind, key, ctx.Err())
		}
	}
}

// readLive reads from the API server. If neither the API server nor the cache has the object with the operator's
// labels, another client deleted the object, or removed the labels, while the watch was interrupted. No event will
// follow then, so readLive forgets the write.
func (c *Client) readLive(
	ctx context.Context, id identity, object client.Object, awaited *record, cacheErr error,
) error {
	log.FromContext(ctx).Info("The cache does not have the last write; reading from the API server",
		"kind", id.kind.Kind, "resourceVersion", awaited.version)
	reflect.ValueOf(object).Elem().SetZero() // The object may share memory with the cache.
	err := c.live.Get(ctx, id.key, object)
	missing := apierrors.IsNotFound(err) || err == nil && !c.cached(id.kind.GroupKind(), object.GetLabels())
	if missing && apierrors.IsNotFound(cacheErr) {
		c.records.drop(id, awaited)
	}
	return err
}

// Apply applies a configuration, and remembers the result.
func (c *Client) Apply(ctx context.Context, wanted runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	id, _, err := readAnswer(wanted)
	if err != nil {
		return err
	}
	return c.send(ctx, id, func() (metav1.Object, error) {
		if err := c.Client.Apply(ctx, wanted, opts...); err != nil {
			return nil, err
		}
		_, answer, err := readAnswer(wanted)
		return answer, err
	})
}

// Patch patches an object, and remembers the result.
func (c *Client) Patch(
	ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption,
) error {
	return c.sendObject(ctx, object, func() error { return c.Client.Patch(ctx, object, patch, opts...) })
}

// Delete deletes an object, and remembers that.
func (c *Client) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	id, err := c.identify(object, client.ObjectKeyFromObject(object))
	if err != nil {
		return err
	}
	if err := c.Client.Delete(ctx, object, opts...); err != nil {
		return err
	}
	return c.await(ctx, id, c.records.note(id, object.GetUID(), ""))
}

// Status writes the status, and remembers the result.
func (c *Client) Status() client.SubResourceWriter {
	return statusWriter{SubResourceWriter: c.Client.Status(), client: c}
}

type statusWriter struct {
	client.SubResourceWriter
	client *Client
}

func (w statusWriter) Patch(
	ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
) error {
	return w.client.sendObject(ctx, object, func() error { return w.SubResourceWriter.Patch(ctx, object, patch, opts...) })
}

// sendObject sends a write whose answer is stored in the object.
func (c *Client) sendObject(ctx context.Context, object client.Object, request func() error) error {
	id, err := c.identify(object, client.ObjectKeyFromObject(object))
	if err != nil {
		return err
	}
	return c.send(ctx, id, func() (metav1.Object, error) { return object, request() })
}

// send sends a write, and remembers its answer. It remembers no answer for an object without the operator's labels,
// because the cache will not show such an object.
func (c *Client) send(ctx context.Context, id identity, request func() (metav1.Object, error)) error {
	c.records.begin(id)
	defer c.records.end(id)
	answer, err := request()
	if err != nil || !c.cached(id.kind.GroupKind(), answer.GetLabels()) {
		return err
	}
	return c.await(ctx, id, c.records.note(id, answer.GetUID(), answer.GetResourceVersion()))
}

// await drops a record immediately if the cache already shows the write: the event arrived before the answer, or
// nothing changed.
func (c *Client) await(ctx context.Context, id identity, noted *record) error {
	created, err := c.Scheme().New(id.kind)
	if err != nil {
		return err
	}
	cached := created.(client.Object)
	err = c.Client.Get(ctx, id.key, cached)
	if client.IgnoreNotFound(err) == nil && noted.isShownBy(unlessMissing(cached, err)) {
		c.records.drop(id, noted)
	}
	return nil // Otherwise an event or a later read drops the record.
}
