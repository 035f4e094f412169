package plan

// The Job that saves the keys of a cache as a snapshot, or restores one.

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Snapshot is a snapshot to be written or restored, with all defaults resolved.
type Snapshot struct {
	// Job is the name of the Job, and SnapshotName that of the snapshot in the bucket or the volume.
	Job, Namespace, SnapshotName string

	// Owner is the MemcachedSnapshot of a Job that saves, or the Memcached of a Job that restores.
	Owner Owner

	// Restores: the snapshot is restored. Source is then the result of SourceOf, and Hash is how clients choose a server;
	// if Hash is empty, each server gets the items of the server that had its name.
	Restores     bool
	Source, Hash string

	// Keys is the size limit of the temporary file with the keys of one server.
	Keys resource.Quantity

	// Cache is the name of the Memcached, and Pod is what its Pods are made from: the Pods of the Job get the same
	// placement.
	Cache string
	Pod   Pod

	// Servers are the servers of the cache, in the order in which clients list them. ServerName is the name by which
	// clients verify the certificates of all servers; if it is empty, they verify the host of each address.
	Servers    []Server
	ServerName string

	Image string

	// Place is where the snapshot is written, or read.
	Place cachev1.SnapshotTarget

	// Rate limits how many bytes of keys and values are copied per second.
	Rate int64

	// Memory is the memory limit of the container.
	Memory resource.Quantity
}

// Owner is the object that a Job belongs to.
type Owner struct {
	Kind, Name string
	UID        types.UID
}

// Server is a server of a cache. If the server is a slot, it keeps its name when the Pod is replaced.
type Server struct{ Name, Address string }

// CurrentSnapshot is what a new snapshot depends on.
type CurrentSnapshot struct {
	// Memcached is the cache; nil if there is none.
	Memcached *cachev1.Memcached

	// Pods are the names and the IP addresses of the ready Pods of a cache without slots.
	Pods []Server

	// Busy is the Job that saves or restores the cache now; empty if none does.
	Busy string

	// MissingSecret: the Secret with the credentials does not exist.
	MissingSecret bool
}

// Unmet is why a Job cannot begin yet, as a reason of the condition Ready of a snapshot.
type Unmet struct{ Reason, Message string }

const (
	// snapshotMemory is enough for items of the default size, because the list of keys is in a file, and items are copied
	// one by one.
	snapshotMemory = 128 << 20

	// memoryOfItem is how many times its size an item needs in memory while it is copied.
	memoryOfItem = 6

	// leastKeys is the minimum of Snapshot.Keys: memcached may have some keys beyond its memory limit.
	leastKeys = 64 << 20
)

// ResolveSnapshot returns the snapshot to be written, or why the save cannot begin yet.
func ResolveSnapshot(
	wanted *cachev1.MemcachedSnapshot, current CurrentSnapshot, defaults Defaults,
) (Snapshot, *Unmet) {
	if unmet := unmetBy(wanted, current); unmet != nil {
		return Snapshot{}, unmet
	}
	mc := current.Memcached
	s := snapshotOf(mc, wanted.Spec.BytesPerSecond, defaults)
	s.Job, s.Owner = wanted.Name, Owner{"MemcachedSnapshot", wanted.Name, wanted.UID}
	s.SnapshotName, s.Place = SnapshotName(wanted), wanted.Spec.To
	if len(s.Servers) > 0 {
		return s, nil
	}
	host, port, err := net.SplitHostPort(mc.Status.Endpoint)
	if err != nil {
		return Snapshot{}, notReady(mc, "it reports no endpoint yet")
	}
	for _, found := range current.Pods {
		s.Servers = append(s.Servers, Server{found.Name, net.JoinHostPort(found.Address, port)})
	}
	if s.Pod.TLSSecret != "" {
		s.ServerName = host // Certificates do not name the addresses of Pods.
	}
	return s, nil
}

// snapshotOf returns the settings that Jobs which save or restore a cache have in common.
func snapshotOf(mc *cachev1.Memcached, rate *resource.Quantity, defaults Defaults) Snapshot {
	pod := podOf(mc, Record{Inputs: defaults.inputs()})
	s := Snapshot{
		Namespace: mc.Namespace, Cache: mc.Name, Pod: pod, Image: defaults.SnapshotImage, Rate: defaultHandoffRate,
		Memory: *resource.NewQuantity(snapshotMemory+memoryOfItem*pod.Memcached.MaxItemSize, resource.BinarySI),
		// In addition to the key of an item, memcached needs at least 48 bytes, and the list of keys needs 3 bytes.
		Keys: *resource.NewQuantity(max(leastKeys, pod.Memcached.ItemMemory), resource.BinarySI),
	}
	if rate != nil {
		s.Rate = rate.Value()
	}
	for _, slot := range mc.Status.Slots {
		s.Servers = append(s.Servers, Server{slot.Name, slot.Address})
	}
	return s
}

// unmetBy returns the condition that a snapshot still needs; nil if none. No snapshot is taken of only a part of a
// cache. No snapshot is taken while slots move, either, because an agent then lists keys, and memcached can stand still
// if two clients list its keys at the same time.
func unmetBy(wanted *cachev1.MemcachedSnapshot, current CurrentSnapshot) *Unmet {
	mc, name := current.Memcached, wanted.Spec.MemcachedRef.Name
	if mc == nil {
		return &Unmet{cachev1.ReasonMemcachedNotFound, fmt.Sprintf(
			"spec.memcachedRef.name %q does not exist: create the Memcached in namespace %q", name, wanted.Namespace)}
	}
	if unmet := unready(mc); unmet != nil {
		return unmet
	}
	switch {
	case current.Busy != "":
		return notReady(mc, fmt.Sprintf("Job %q saves or restores it now", current.Busy))
	case len(mc.Status.Slots) == 0 && len(current.Pods) < int(mc.Status.ReadyReplicas):
		return notReady(mc, fmt.Sprintf("%d of its %d Pods are ready", len(current.Pods), mc.Status.ReadyReplicas))
	case current.MissingSecret:
		return missingSecret("spec.to", wanted.Spec.To, wanted.Namespace)
	}
	return nil
}

// unready returns why some servers of a cache can't be reached; nil if all can.
func unready(mc *cachev1.Memcached) *Unmet {
	ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	switch {
	case ready == nil || mc.Status.ObservedGeneration != mc.Generation:
		return notReady(mc, "the operator has not reported its state yet")
	case ready.Reason == cachev1.ReasonScaledToZero:
		return notReady(mc, "its size is 0, and it has no keys")
	case ready.Status != metav1.ConditionTrue:
		return notReady(mc, fmt.Sprintf("its condition Ready has the reason %s", ready.Reason))
	}
	return nil
}

func missingSecret(field string, place cachev1.SnapshotTarget, namespace string) *Unmet {
	return &Unmet{cachev1.ReasonSecretNotFound, fmt.Sprintf(
		"%s.credentials.secretName %q does not exist: create the Secret in namespace %q",
		field, place.Credentials.SecretName, namespace)}
}

func notReady(mc *cachev1.Memcached, why string) *Unmet {
	return &Unmet{cachev1.ReasonMemcachedNotReady, fmt.Sprintf("The Memcached %q is not ready: %s", mc.Name, why)}
}

// SnapshotName returns the name of a snapshot in the bucket or the volume. The name is the same for all attempts of the
// Job. A MemcachedSnapshot that is created again, or is in another namespace, gets another name.
func SnapshotName(wanted *cachev1.MemcachedSnapshot) string {
	const digits = 8 // of the UID, which are random
	return wanted.Name + wanted.CreationTimestamp.UTC().Format("-20060102T150405Z-") +
		string(wanted.UID)[:min(digits, len(wanted.UID))]
}

// ServerNames returns the names of the servers of a cache, as Jobs use them. They change when the cache is scaled and,
// without slots, when a Pod is replaced.
func ServerNames(mc *cachev1.Memcached) string {
	if len(mc.Status.Slots) == 0 {
		return joined(mc.Status.Nodes)
	}
	var names []string
	for _, slot := range mc.Status.Slots {
		names = append(names, slot.Name)
	}
	return joined(names)
}

// Names returns the names of the servers of a Job, to compare them with ServerNames.
func (s Snapshot) Names() string {
	var names []string
	for _, server := range s.Servers {
		names = append(names, server.Name)
	}
	return joined(names)
}

func joined(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), " ") }
