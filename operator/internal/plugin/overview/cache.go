package overview

// All that one screen shows of a cache.

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
)

// Cache is all that one screen shows of a cache.
type Cache struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Summary   `json:",inline"`

	Endpoint          string       `json:"endpoint,omitempty"`
	DiscoveryEndpoint string       `json:"discoveryEndpoint,omitempty"`
	Image             string       `json:"image,omitempty"`
	Certificate       *Certificate `json:"certificate,omitempty"`
	Memory            *Memory      `json:"memory,omitempty"`
	Pods              *Pods        `json:"pods,omitempty"`
	Waits             []Waiting    `json:"waits,omitempty"`
	Rollout           *Rollout     `json:"rollout,omitempty"`
	Servers           []Server     `json:"servers,omitempty"`
	Events            []Event      `json:"events,omitempty"`

	// Unread lists the objects that the user has no right to read.
	Unread []string `json:"unread,omitempty"`
}

// Memory is the operator's finding about the memory of the Pods, from the use of the cache.
type Memory struct {
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	Recommended string `json:"recommended,omitempty"`
	Current     string `json:"current,omitempty"`
}

// memoryOf returns the finding about the memory; nil without spec.autoscaling.memory.
func memoryOf(status cachev1.MemcachedStatus) *Memory {
	if status.Autoscaling == nil || status.Autoscaling.Memory == nil {
		return nil
	}
	found := status.Autoscaling.Memory
	memory := &Memory{Reason: found.Reason, Message: found.Message}
	if found.Recommended != nil {
		memory.Recommended = found.Recommended.String()
	}
	if found.Current != nil {
		memory.Current = found.Current.String()
	}
	return memory
}

// Pods is the operator's finding about the number of Pods, from the use of the cache.
type Pods struct {
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	Recommended int32  `json:"recommended,omitempty"`
	Current     int32  `json:"current,omitempty"`
}

// podsOf returns the finding about the number of Pods; nil without spec.autoscaling.size.
func podsOf(status cachev1.MemcachedStatus) *Pods {
	if status.Autoscaling == nil || status.Autoscaling.Size == nil {
		return nil
	}
	found := status.Autoscaling.Size
	pods := &Pods{Reason: found.Reason, Message: found.Message}
	if found.Recommended != nil {
		pods.Recommended = *found.Recommended
	}
	if found.Current != nil {
		pods.Current = *found.Current
	}
	return pods
}

// Certificate is the state of the certificate that the Pods serve.
type Certificate struct {
	NotAfter time.Time `json:"notAfter"`
	Expired  bool      `json:"expired"`
}

// Rollout is the progress of the replacement of Pods.
type Rollout struct {
	Size     int32 `json:"size"`
	UpToDate int32 `json:"upToDate"`
	Ready    int32 `json:"ready"`
	Former   int32 `json:"former"`
	Paused   bool  `json:"paused,omitempty"`
}

// Event is an event about the cache, or about an object with its name.
type Event struct {
	LastSeen time.Time `json:"lastSeen"`
	Type     string    `json:"type"`
	Reason   string    `json:"reason"`
	Object   string    `json:"object"`
	Message  string    `json:"message"`
}

// mostEvents is how many events a screen shows.
const mostEvents = 5

// CacheOf returns what to show of a cache.
func CacheOf(o access.Observed, now time.Time) Cache {
	mc := o.Memcached
	cache := Cache{
		Namespace: mc.Namespace, Name: mc.Name, Summary: SummaryOf(mc),
		Endpoint: mc.Status.Endpoint, DiscoveryEndpoint: mc.Status.DiscoveryEndpoint, Image: mc.Status.Image,
		Memory: memoryOf(mc.Status), Pods: podsOf(mc.Status), Waits: WaitsOf(mc), Servers: serversOf(o), Unread: o.Unread,
	}
	if tls := mc.Status.TLS; tls != nil && tls.NotAfter != nil {
		cache.Certificate = &Certificate{NotAfter: tls.NotAfter.UTC(), Expired: !now.Before(tls.NotAfter.Time)}
	}
	cache.Rollout = rolloutOf(o, cache.Size)
	cache.Events = EventsOf(o.Events[max(0, len(o.Events)-mostEvents):])
	return cache
}

// EventsOf returns what to show of events.
func EventsOf(events []corev1.Event) []Event {
	var found []Event
	for i := range events {
		found = append(found, eventOf(&events[i]))
	}
	return found
}

// rolloutOf returns the rollout in progress, or nil.
func rolloutOf(o access.Observed, size int32) *Rollout {
	if o.Deployment == nil {
		return nil
	}
	status := o.Deployment.Status
	if status.UpdatedReplicas == size && status.Replicas == size && status.ReadyReplicas == size {
		return nil
	}
	return &Rollout{
		Size: size, UpToDate: status.UpdatedReplicas, Ready: status.ReadyReplicas,
		Former: max(0, status.Replicas-status.UpdatedReplicas), Paused: o.Deployment.Spec.Paused,
	}
}

func eventOf(event *corev1.Event) Event {
	return Event{
		LastSeen: access.LastSeen(event).UTC(), Type: event.Type, Reason: event.Reason, Message: event.Message,
		Object: fmt.Sprintf("%s/%s", event.InvolvedObject.Kind, event.InvolvedObject.Name),
	}
}
