package access

// Reads all that a screen needs of a cache, and names what the user may not read.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// Observed has the objects of a cache that a user may read.
type Observed struct {
	Memcached  *cachev1.Memcached
	Deployment *appsv1.Deployment // nil if there is none, or if it does not belong to the Memcached
	Pods       []corev1.Pod       // sorted by name
	Bootstrap  []corev1.Pod       // Pods that copy the keys of other servers, sorted by name
	Nodes      map[string]corev1.Node

	// Events are the events about the Memcached and the objects with its name, the last event at the end.
	Events []corev1.Event

	// Unread lists the objects that the user has no right to read.
	Unread []string
}

// Memcached reads a Memcached. If it does not exist, the error says what to do.
func (c Cluster) Memcached(ctx context.Context, key client.ObjectKey) (*cachev1.Memcached, error) {
	mc := &cachev1.Memcached{}
	err := c.Get(ctx, key, mc)
	if apierrors.IsNotFound(err) && !isKindMissing(err) {
		return nil, fmt.Errorf("namespace %s has no Memcached %q (%w): list all by kubectl memcached status -A",
			key.Namespace, key.Name, err)
	}
	return mc, err
}

// Observe reads a cache and its objects. Objects that the user has no right to read are listed in Unread.
func (c Cluster) Observe(ctx context.Context, key client.ObjectKey) (Observed, error) {
	mc, err := c.Memcached(ctx, key)
	if err != nil {
		return Observed{}, err
	}
	o := Observed{Memcached: mc, Nodes: map[string]corev1.Node{}}
	reads := []read{
		{"Deployments", func() error { return c.observeDeployment(ctx, &o) }},
		{"Pods", func() error { return c.observePods(ctx, &o) }},
		{"Events", func() error { return c.observeEvents(ctx, &o) }},
	}
	for i, err := range together(reads) {
		if err := o.leaveOut(err, reads[i].of); err != nil {
			return o, err
		}
	}
	return o, c.observeNodes(ctx, &o)
}

// read has a function that reads objects, and the name of these objects for Unread.
type read struct {
	of string
	do func() error
}

// together performs all reads at the same time, because the API server may be slow. It returns the errors in the order
// of the reads.
func together(reads []read) []error {
	errs := make([]error, len(reads))
	var group sync.WaitGroup
	for i := range reads {
		group.Go(func() { errs[i] = reads[i].do() })
	}
	group.Wait()
	return errs
}

// observeDeployment reads the Deployment, if it belongs to the Memcached.
func (c Cluster) observeDeployment(ctx context.Context, o *Observed) error {
	deployment := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKeyFromObject(o.Memcached), deployment)
	if err == nil && metav1.IsControlledBy(deployment, o.Memcached) {
		o.Deployment = deployment
	}
	return client.IgnoreNotFound(err)
}

// observePods reads the Pods, and those that copy the keys of other servers.
func (c Cluster) observePods(ctx context.Context, o *Observed) (err error) {
	key := client.ObjectKeyFromObject(o.Memcached)
	o.Pods, err = c.PodsOf(ctx, key)
	if err != nil || o.Memcached.Spec.Bootstrap == nil {
		return err
	}
	o.Bootstrap, err = c.PodsOf(ctx, client.ObjectKey{Namespace: key.Namespace, Name: names.BootstrapInstance(key.Name)})
	return err
}

func (c Cluster) observeEvents(ctx context.Context, o *Observed) error {
	events := &corev1.EventList{}
	name := client.MatchingFields{"involvedObject.name": o.Memcached.Name}
	err := c.List(ctx, events, client.InNamespace(o.Memcached.Namespace), name)
	o.Events = Ordered(events.Items)
	return err
}

// PodsOf reads the Pods of a Memcached, sorted by name.
func (c Cluster) PodsOf(ctx context.Context, key client.ObjectKey) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := c.List(ctx, pods, client.InNamespace(key.Namespace), client.MatchingFields{observe.PodIndex: key.Name})
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods.Items, err
}

// observeNodes reads the Nodes on which the Pods run, each Node once.
func (c Cluster) observeNodes(ctx context.Context, o *Observed) error {
	for i := range o.Pods {
		name := o.Pods[i].Spec.NodeName
		if _, known := o.Nodes[name]; known || name == "" {
			continue
		}
		node := &corev1.Node{}
		err := c.Get(ctx, client.ObjectKey{Name: name}, node)
		if apierrors.IsForbidden(err) {
			return o.leaveOut(err, "Nodes") // If the user may not read this Node, the user may read no Node.
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Node %s: %w", name, err)
		}
		o.Nodes[name] = *node
	}
	return nil
}

// leaveOut adds the objects (what) to Unread, if the error is that the user may not read them. It returns any other
// error.
func (o *Observed) leaveOut(err error, what string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		o.Unread = append(o.Unread, what)
		return nil
	}
	return fmt.Errorf("read the %s of %s/%s: %w", what, o.Memcached.Namespace, o.Memcached.Name, err)
}

// Ordered sorts events by when they happened last.
func Ordered(events []corev1.Event) []corev1.Event {
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return LastSeen(&a).Compare(LastSeen(&b)) })
	return events
}

// LastSeen returns when an event happened last. Clients of the two versions of the events API set different fields.
func LastSeen(event *corev1.Event) time.Time {
	last := event.CreationTimestamp.Time
	for _, seen := range []time.Time{event.EventTime.Time, event.FirstTimestamp.Time, event.LastTimestamp.Time} {
		if seen.After(last) {
			last = seen
		}
	}
	if event.Series != nil && event.Series.LastObservedTime.After(last) {
		last = event.Series.LastObservedTime.Time
	}
	return last
}
