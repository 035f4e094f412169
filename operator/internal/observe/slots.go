package observe

// The objects of slots, and which Pod holds which slot.

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// MemcachedIndex finds the Services, EndpointSlices, ReplicaSets and Secrets of a Memcached by its name, like PodIndex.
const MemcachedIndex = PodIndex

// InstanceOfSlot returns the value of LabelInstance if a Service belongs to slots, and nothing for any other Service.
// So the index of these values is empty if no Memcached has slots.
func InstanceOfSlot(service client.Object) []string {
	instance, name := InstanceOf(service), service.GetName()
	if _, isOfOne := names.SlotNumber(instance, name); isOfOne || name == names.SlotService(instance) {
		return []string{instance}
	}
	return nil
}

// addSlotObjects reads the objects of slots: those with known names, and those of former slots. Lists from the cache
// may miss the operator's own last writes, so each object is then read by its name.
func (c Collector) addSlotObjects(ctx context.Context, mc *cachev1.Memcached, objects map[Key]client.Object) error {
	keys := slotKeys(mc)
	for kind, list := range map[Key]client.ObjectList{
		{GroupKind: ServiceKind.GroupKind()}: &corev1.ServiceList{},
		{GroupKind: SliceKind.GroupKind()}:   &discoveryv1.EndpointSliceList{},
	} {
		of := client.MatchingFields{MemcachedIndex: mc.Name}
		if err := c.Cache.List(ctx, list, client.InNamespace(mc.Namespace), of); err != nil {
			return fmt.Errorf("list the objects of kind %s: %w", kind.Kind, err)
		}
		for _, name := range namesIn(list) {
			keys[Key{kind.GroupKind, name}] = true
		}
	}
	for key := range keys {
		if objects[key] != nil {
			continue
		}
		kind, _ := find(key.GroupKind)
		named := client.ObjectKey{Namespace: mc.Namespace, Name: key.Name}
		if err := addObject(ctx, c.Cache, named, kind, objects); err != nil {
			return err
		}
	}
	return nil
}

func namesIn(list client.ObjectList) []string {
	var found []string
	switch list := list.(type) {
	case *corev1.ServiceList:
		for i := range list.Items {
			found = append(found, list.Items[i].Name)
		}
	case *discoveryv1.EndpointSliceList:
		for i := range list.Items {
			found = append(found, list.Items[i].Name)
		}
	}
	return found
}

var families = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}

// slotKeys returns the objects that a Memcached with slots may have.
func slotKeys(mc *cachev1.Memcached) map[Key]bool {
	keys := map[Key]bool{}
	services := []string{names.SlotService(mc.Name)}
	if mc.Spec.Slots != nil && mc.Spec.Slots.Mode == cachev1.SlotsClusterIP {
		for number := range int(plan.SizeOf(mc)) {
			services = append(services, names.SlotName(mc.Name, number))
		}
	}
	for _, service := range services {
		keys[Key{ServiceKind.GroupKind(), service}] = true
		for _, family := range families {
			keys[Key{SliceKind.GroupKind(), names.EndpointSliceName(service, string(family))}] = true
		}
	}
	return keys
}

// addSlots adds the observed state of the slots to a snapshot.
func (c Collector) addSlots(ctx context.Context, mc *cachev1.Memcached, s *Snapshot, pods []corev1.Pod) error {
	var err error
	if s.Slots.Hash, err = c.currentHash(ctx, s.Deployment()); err != nil {
		return err
	}
	s.Slots.Endpoints, s.Slots.Listed, s.Slots.Family = s.holders(mc)
	s.Versions = map[string]string{}
	for i := range pods {
		s.addSlotPod(&pods[i])
	}
	return c.addMissingHolders(ctx, mc, s)
}

// addSlotPod adds the slot-related state of a Pod, and its resource version.
func (s *Snapshot) addSlotPod(pod *corev1.Pod) {
	observed := slotPod(pod)
	if s.Slots.Family == "" {
		s.Slots.Family = familyOf(observed.IP)
	}
	s.Slots.Pods = append(s.Slots.Pods, observed)
	s.Versions[observed.UID] = pod.ResourceVersion
}

// addMissingHolders reads the Pods that hold a slot and are not in the cache, because the cached Pods may be older than
// the cached EndpointSlice.
func (c Collector) addMissingHolders(ctx context.Context, mc *cachev1.Memcached, s *Snapshot) error {
	for _, endpoint := range s.Slots.Endpoints {
		if _, known := s.Versions[endpoint.UID]; known {
			continue
		}
		pod := &corev1.Pod{}
		err := c.Live.Get(ctx, client.ObjectKey{Namespace: mc.Namespace, Name: endpoint.Pod}, pod)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Pod %s: %w", endpoint.Pod, err)
		}
		if err == nil && string(pod.UID) == endpoint.UID && cached.MemcachedOf(pod) == mc.Name {
			s.addSlotPod(pod)
		}
	}
	return nil
}

// holders reads the record of which Pod holds which slot, and of how many slots clients' lists have. It also returns
// the IP family of the addresses in the record. A record without an owner counts if there is no other record: clients
// still use it, and the operator is about to take it back. If another client changed the label by which the record is
// found, the family is taken from the EndpointSlices of the slots, because without a family no slot would have
// addresses.
func (s Snapshot) holders(mc *cachev1.Memcached) (endpoints []slots.Endpoint, listed int, family corev1.IPFamily) {
	record, family := s.record(func(slice *discoveryv1.EndpointSlice) bool { return metav1.IsControlledBy(slice, mc) })
	if record == nil {
		record, family = s.record(isOrphan)
	}
	if record == nil {
		return nil, 0, s.familyOfSlices(mc)
	}
	for i := range record.Endpoints {
		if endpoint, ok := holder(s.Name, &record.Endpoints[i]); ok {
			endpoints = append(endpoints, endpoint)
		}
	}
	listed, _ = strconv.Atoi(record.Annotations[names.AnnotationSlots]) // 0 if the annotation has no number.
	return endpoints, listed, family
}

// record returns the first slice that has the name of a record and is accepted by the function, and the slice's IP
// family; nil if there is none.
func (s Snapshot) record(accept func(*discoveryv1.EndpointSlice) bool) (*discoveryv1.EndpointSlice, corev1.IPFamily) {
	for _, family := range families {
		key := Key{SliceKind.GroupKind(), names.EndpointSliceName(names.SlotService(s.Name), string(family))}
		if slice, ok := s.Objects[key].(*discoveryv1.EndpointSlice); ok && accept(slice) {
			return slice, family
		}
	}
	return nil, ""
}

// familyOfSlices returns the IP family of the slices that a Memcached has.
func (s Snapshot) familyOfSlices(mc *cachev1.Memcached) corev1.IPFamily {
	for _, family := range families {
		for _, object := range s.Objects {
			slice, ok := object.(*discoveryv1.EndpointSlice)
			if ok && metav1.IsControlledBy(slice, mc) && slice.AddressType == discoveryv1.AddressType(family) {
				return family
			}
		}
	}
	return ""
}

// isOrphan reports whether the operator applied a slice that has no owner now.
func isOrphan(slice *discoveryv1.EndpointSlice) bool {
	return len(slice.OwnerReferences) == 0 && slice.Annotations[names.AnnotationAppliedHash] != ""
}

func holder(instance string, endpoint *discoveryv1.Endpoint) (slots.Endpoint, bool) {
	if endpoint.Hostname == nil || endpoint.TargetRef == nil || len(endpoint.Addresses) == 0 {
		return slots.Endpoint{}, false
	}
	number, found := names.SlotNumber(instance, *endpoint.Hostname)
	if !found {
		return slots.Endpoint{}, false
	}
	ready := endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
	return slots.Endpoint{
		Slot: number, Pod: endpoint.TargetRef.Name, UID: string(endpoint.TargetRef.UID),
		IP: endpoint.Addresses[0], Ready: ready,
	}, true
}

func familyOf(address string) corev1.IPFamily {
	switch {
	case address == "":
		return ""
	case strings.Contains(address, ":"):
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}
