package render

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	discoveryv1ac "k8s.io/client-go/applyconfigurations/discovery/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

var sliceKind = discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice").GroupKind()

// slotObjects returns the Services and EndpointSlices of the slots. The EndpointSlice of the headless Service comes
// first: it is the record of which Pod holds which slot, and the other objects follow from it.
func slotObjects(p plan.Plan) []Object {
	if p.Slots == nil {
		return nil
	}
	all := names.SlotService(p.Name)
	objects := []Object{slotService(p, all, corev1.ClusterIPNone)}
	if p.Slots.Family != "" {
		record := slice(p, all, p.Slots.Endpoints, true)
		record.Guarded = true
		objects = append(objects, record)
	}
	if !p.Slots.Services {
		return objects
	}
	for number := range p.Slots.Number(p.Size) {
		name := names.SlotName(p.Name, number)
		objects = append(objects, slotService(p, name, ""))
		if p.Slots.Family != "" {
			objects = append(objects, slice(p, name, endpointsOf(p, number), false))
		}
	}
	return objects
}

func endpointsOf(p plan.Plan, number int) []slots.Endpoint {
	for _, endpoint := range p.Slots.Endpoints {
		if endpoint.Slot == number {
			return []slots.Endpoint{endpoint}
		}
	}
	return nil
}

// slotService returns a Service without a selector, because the operator writes its EndpointSlice.
func slotService(p plan.Plan, name, clusterIP string) Object {
	spec := corev1ac.ServiceSpec()
	if clusterIP != "" {
		spec.WithClusterIP(clusterIP)
	}
	for _, port := range p.ServicePorts {
		spec.WithPorts(corev1ac.ServicePort().
			WithName(port.Name).
			WithPort(port.Number).
			WithTargetPort(intstr.FromInt32(port.Number)).
			WithProtocol(corev1.ProtocolTCP))
	}
	if p.Slots.Family != "" && clusterIP == "" {
		spec.WithIPFamilies(p.Slots.Family)
	}
	return serviceObject(p, name, spec)
}

// slice returns the EndpointSlice of a Service. With hostnames, each endpoint has a DNS name below the Service's name,
// and the slice records how many slots clients' lists have.
func slice(p plan.Plan, service string, endpoints []slots.Endpoint, hostnames bool) Object {
	slice := discoveryv1ac.EndpointSlice(names.EndpointSliceName(service, string(p.Slots.Family)), p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithLabels(map[string]string{
			discoveryv1.LabelServiceName: service, discoveryv1.LabelManagedBy: names.SliceManager,
		}).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithAddressType(discoveryv1.AddressType(p.Slots.Family))
	if hostnames {
		slice.WithAnnotations(map[string]string{names.AnnotationSlots: strconv.Itoa(p.Slots.Listed)})
	}
	slice.Endpoints = []discoveryv1ac.EndpointApplyConfiguration{} // The field is required, even if it is empty.
	for _, endpoint := range endpoints {
		configuration := discoveryv1ac.Endpoint().
			WithAddresses(endpoint.IP).
			WithConditions(discoveryv1ac.EndpointConditions().WithReady(endpoint.Ready)).
			WithTargetRef(corev1ac.ObjectReference().
				WithKind("Pod").WithNamespace(p.Namespace).WithName(endpoint.Pod).WithUID(types.UID(endpoint.UID)))
		if hostnames {
			configuration.WithHostname(names.SlotName(p.Name, endpoint.Slot))
		}
		slice.WithEndpoints(configuration)
	}
	for _, port := range p.ServicePorts {
		slice.WithPorts(discoveryv1ac.EndpointPort().
			WithName(port.Name).WithPort(port.Number).WithProtocol(corev1.ProtocolTCP))
	}
	return Object{
		GroupKind:     sliceKind,
		Configuration: slice,
		Metadata:      slice.ObjectMetaApplyConfiguration,
	}
}

// needSlot makes a Pod become ready only with a slot, and mounts the operator's instruction for the agent.
func needSlot(spec *corev1ac.PodSpecApplyConfiguration) {
	spec.WithReadinessGates(corev1ac.PodReadinessGate().WithConditionType(names.HasSlot)).
		WithVolumes(annotationVolume(handoffVolume, "handoff", names.AnnotationHandoff), diskVolume(keysVolume))
}
