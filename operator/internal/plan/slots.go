package plan

// What the slots of a cache need from its objects and its Pods.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// Slots are the slots of a cache.
type Slots struct {
	slots.Decision

	// Services: each slot has a Service with a cluster IP.
	Services bool

	// Family is the IP family of the Pods; empty while there are none.
	Family corev1.IPFamily

	// Kept: the spec is invalid. Nothing but the existing EndpointSlices, PodDisruptionBudget and Pods follows the
	// decision.
	Kept bool
}

// CurrentSlots is the observed state of the slots.
type CurrentSlots struct {
	// Pods are all Pods of the cache.
	Pods []slots.Pod

	// Endpoints are the record of which Pod holds which slot, and Family the IP family of its addresses.
	Endpoints []slots.Endpoint
	Family    corev1.IPFamily

	// Hash is the pod-template-hash of the ReplicaSet that the Deployment scales up; empty if that is unknown.
	Hash string

	// NodesWatched: it is known which Pods are on a cordoned Node.
	NodesWatched bool
}

const (
	defaultHandoffTimeoutSeconds = int32(600)
	defaultHandoffRate           = int64(16) << 20
)

func handoff(spec cachev1.MemcachedSpec) cachev1.Handoff { return orZero(orZero(spec.Slots).Handoff) }

func handsOver(spec cachev1.MemcachedSpec) bool { return handoff(spec).Mode != cachev1.HandoffNever }

func handoffTimeoutSeconds(spec cachev1.MemcachedSpec) int32 {
	return orDefault(handoff(spec).TimeoutSeconds, defaultHandoffTimeoutSeconds)
}

func slotsOf(mc *cachev1.Memcached, record Record) *Slots {
	if !record.Slots {
		return nil
	}
	return &Slots{Services: orZero(mc.Spec.Slots).Mode == cachev1.SlotsClusterIP}
}

// decideSlots decides which Pod has which slot.
func (p *Plan) decideSlots(spec cachev1.MemcachedSpec, current Current, now time.Time) {
	observed := current.Slots
	in := slots.Input{
		Cache: p.Name, Size: int(p.Size), Suspended: p.Suspended,
		Handoff: handsOver(spec), Timeout: time.Duration(handoffTimeoutSeconds(spec)) * time.Second,
		Rate: defaultHandoffRate, Drain: time.Duration(p.TerminationDelaySeconds) * time.Second, Now: now,
		MinReady: time.Duration(p.Rollout.MinReadySeconds) * time.Second,
		Hash:     observed.Hash, Endpoints: observed.Endpoints, Pods: observed.Pods, Addresses: p.slotAddresses(),
	}
	if rate := handoff(spec).BytesPerSecond; rate != nil {
		in.Rate = rate.Value()
	}
	if current.Deployment != nil {
		in.Deployed = int(orDefault(current.Deployment.Spec.Replicas, 1))
	}
	p.Slots.Decision, p.Slots.Family = slots.Decide(in), observed.Family
	if p.Size == 0 && len(p.Slots.Endpoints) == 0 {
		p.Slots.Family = "" // As of a cache that never had a Pod.
	}
	if in.Handoff && observed.NodesWatched && orZero(spec.Disruption).MaxUnavailable == nil && p.Size > 0 {
		p.Disruption = new(intstr.FromInt32(1))
		if p.Slots.HoldBack && !slices.ContainsFunc(observed.Pods, hasNoPart) {
			p.Disruption = new(intstr.FromInt32(0))
		}
	}
}

// keepSlots decides about the slots of a cache whose spec is invalid, with the number of slots that it has. Otherwise a
// Pod that is lost would stay in its slot, its replacement would get none, and a handoff would never end.
func (p *Plan) keepSlots(mc *cachev1.Memcached, current Current, now time.Time) {
	if count := len(mc.Status.Slots); count > 0 {
		p.Size = int32(count) //nolint:gosec // An object has room for some thousands.
	}
	p.Slots, p.Disruption = &Slots{Kept: true, Services: haveServices(mc)}, nil
	p.decideSlots(mc.Spec, current, now)
}

// KeepsSlots reports whether the spec is invalid, and the slots that exist are kept.
func (p Plan) KeepsSlots() bool { return p.Slots != nil && p.Slots.Kept }

// haveServices reports whether the addresses of the slots are those of a Service each.
func haveServices(mc *cachev1.Memcached) bool {
	return slices.ContainsFunc(mc.Status.Slots, func(slot cachev1.SlotStatus) bool {
		return !strings.Contains(slot.Address, "."+names.SlotService(mc.Name)+".")
	})
}

// hasNoPart reports whether a Pod will never hand over its keys: it was created before the cache had slots.
func hasNoPart(pod slots.Pod) bool { return !pod.Gated && !pod.Ended && !pod.Terminating }

// slotAddresses returns the addresses for clients, by slot.
func (p Plan) slotAddresses() map[string]string {
	addresses := map[string]string{}
	for number := range int(p.Size) {
		name := names.SlotName(p.Name, number)
		host := name + "." + names.SlotService(p.Name)
		if p.Slots.Services {
			host = name
		}
		addresses[name] = fmt.Sprintf("%s.%s.svc:%d", host, p.Namespace, p.ClientPorts()[0].Number)
	}
	return addresses
}

// longestName is the limit of a DNS label.
const longestName = 63

// slotProblems finds what keeps a cache from having the slots that its spec requests.
func slotProblems(spec cachev1.MemcachedSpec, p Plan, defaults Defaults) []string {
	if spec.Slots == nil {
		return nil
	}
	if !defaults.Slots {
		return []string{"spec.slots needs an operator that was installed with slots, and this one was not: install it with " +
			"the component overlays/components/slots or the chart's value slots=true, or remove spec.slots"}
	}
	var problems []string
	if count := orZero(spec.Rollout).MaxUnavailable; count != nil && !isZero(*count) {
		problems = append(problems, fmt.Sprintf("spec.rollout.maxUnavailable %q would delete Pods before their keys are "+
			"copied: set it to 0, or remove spec.slots", count.String()))
	}
	if err := memcached.CheckSlots(spec.ExtraArgs, handsOver(spec)); err != nil {
		problems = append(problems, fmt.Sprintf("spec.extraArgs: %v", err))
	}
	for _, name := range []string{names.SlotService(p.Name), names.SlotName(p.Name, max(int(p.Size), 1)-1)} {
		if len(name) > longestName {
			problems = append(problems, fmt.Sprintf("metadata.name is too long for slots: %q has more than %d characters; use "+
				"a name of at most %d, or remove spec.slots", name, longestName,
				longestName-len(strings.TrimPrefix(name, p.Name))))
			break
		}
	}
	return problems
}

func isZero(count intstr.IntOrString) bool {
	return count == intstr.FromInt32(0) || count == intstr.FromString("0%")
}

// Replicas returns how many Pods the Deployment has.
func (p Plan) Replicas() int32 {
	if p.Slots == nil {
		return p.Size
	}
	return int32(p.Slots.Replicas) //nolint:gosec // Decide returns at most one more than it gets.
}
