package plan

// Plans the slots of a cache, and the names, addresses and rights that slots need.

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
}

// Number returns how many slots clients may connect to. After the size was reduced, some clients still have the longer
// list.
func (s *Slots) Number(size int32) int {
	if s == nil {
		return int(size)
	}
	return max(int(size), s.Listed)
}

// CurrentSlots is the observed state of the slots.
type CurrentSlots struct {
	// Pods are all Pods of the cache.
	Pods []slots.Pod

	// Endpoints record which Pod has which slot, Listed records how many slots the lists of clients have, and Family is
	// the IP family of the recorded addresses.
	Endpoints []slots.Endpoint
	Listed    int
	Family    corev1.IPFamily

	// Hash is the pod-template-hash of the ReplicaSet that the Deployment scales up; empty if that is unknown.
	Hash string
}

const (
	defaultHandoffTimeoutSeconds = int32(600)
	defaultHandoffRate           = int64(16) << 20
	defaultScaleOverlapSeconds   = int32(30)
)

func handoff(spec cachev1.MemcachedSpec) cachev1.Handoff { return orZero(orZero(spec.Slots).Handoff) }

// HandsOver reports whether Pods with slots hand their keys over when they are replaced.
func HandsOver(spec cachev1.MemcachedSpec) bool { return handoff(spec).Mode != cachev1.HandoffNever }

func handoffTimeoutSeconds(spec cachev1.MemcachedSpec) int32 {
	return orDefault(handoff(spec).TimeoutSeconds, defaultHandoffTimeoutSeconds)
}

// decideSlots decides which Pod has which slot; nil for a cache without slots.
func (d Draft) decideSlots(size int32, memory *slots.Memory) *Slots {
	if !d.Pod.NeedsSlot {
		return nil
	}
	return d.slots(size, orZero(d.memcached.Spec.Slots).Mode == cachev1.SlotsClusterIP, memory)
}

// keptSlots plans the slots of a cache whose spec is invalid, with the number of slots that it has.
func (d Draft) keptSlots() *Plan {
	if d.before == nil || !d.before.Slots || len(d.defaults.MissingRights) > 0 || d.current.Deployment == nil {
		return nil
	}
	size := orDefault(d.memcached.Spec.Size, 1)
	if count := len(d.memcached.Status.Slots); count > 0 {
		size = int32(count) //nolint:gosec // An object has room for some thousands.
	}
	decided := decisions{size: size, slots: d.slots(size, haveServices(d.memcached), nil)}
	kept := d.plan(decided)
	return &kept
}

// slots decides which Pod has which slot.
func (d Draft) slots(size int32, services bool, memory *slots.Memory) *Slots {
	spec, observed := d.memcached.Spec, d.current.Slots
	in := slots.Input{
		Cache: d.memcached.Name, Size: int(size), Suspended: spec.Suspend,
		Handoff: HandsOver(spec), Timeout: time.Duration(handoffTimeoutSeconds(spec)) * time.Second,
		Rate: d.copyRate(), Drain: time.Duration(d.Pod.TerminationDelaySeconds) * time.Second, Now: d.defaults.Now,
		MinReady: time.Duration(orDefault(orZero(spec.Rollout).MinReadySeconds, 0)) * time.Second,
		Hash:     observed.Hash, Endpoints: observed.Endpoints, Pods: observed.Pods,
		Listed: observed.Listed, Scaling: d.scaling(services), Memory: memory,
		Addresses: d.slotAddresses(max(int(size), observed.Listed), services),
	}
	if deployment := d.current.Deployment; deployment != nil {
		in.Deployed = int(orDefault(deployment.Spec.Replicas, 1))
	}
	decided := &Slots{Decision: slots.Decide(in), Services: services, Family: observed.Family}
	if size == 0 && len(decided.Endpoints) == 0 {
		decided.Family = "" // The same as for a cache that never had a Pod.
	}
	return decided
}

// scaling returns the settings with which keys are copied when the size changes; nil if they are not copied.
func (d Draft) scaling(services bool) *slots.Scaling {
	spec := orZero(d.memcached.Spec.Slots)
	if spec.ClientHash == "" {
		return nil
	}
	overlap := orDefault(spec.ScaleOverlapSeconds, defaultScaleOverlapSeconds)
	return &slots.Scaling{
		Hash: string(spec.ClientHash), Names: d.slotAddress(d.memcached.Name+"-#", services),
		Overlap: time.Duration(overlap) * time.Second,
	}
}

// haveServices reports whether each slot has the address of its own Service.
func haveServices(mc *cachev1.Memcached) bool {
	return slices.ContainsFunc(mc.Status.Slots, func(slot cachev1.SlotStatus) bool {
		return !strings.Contains(slot.Address, "."+names.SlotService(mc.Name)+".")
	})
}

// slotAddresses returns the addresses for clients, by slot.
func (d Draft) slotAddresses(size int, services bool) map[string]string {
	addresses := map[string]string{}
	for number := range size {
		name := names.SlotName(d.memcached.Name, number)
		addresses[name] = d.slotAddress(name, services)
	}
	return addresses
}

// slotAddress returns the address of a slot.
func (d Draft) slotAddress(name string, services bool) string {
	host := name
	if !services {
		host += "." + names.SlotService(d.memcached.Name)
	}
	return fmt.Sprintf("%s.%s.svc:%d", host, d.memcached.Namespace, d.Pod.ClientPorts()[0].Number)
}

// maxModuloSize is the largest size with which keys move from each Pod to each other Pod. The number of connections
// grows with the square of the size.
const maxModuloSize = 16

// longestName is the limit of a DNS label.
const longestName = 63

// slotProblems finds the reasons why a cache can't have the slots that its spec requests.
func slotProblems(mc *cachev1.Memcached, defaults Defaults) []string {
	spec := mc.Spec
	size, field := largestSize(spec)
	if spec.Slots == nil {
		return nil
	}
	if missing := defaults.MissingRights; len(missing) > 0 {
		return []string{missingRights("slots", missing, withoutSlots)}
	}
	var problems []string
	if count := orZero(spec.Rollout).MaxUnavailable; count != nil && !isZero(*count) {
		problems = append(problems, fmt.Sprintf("spec.rollout.maxUnavailable %q would delete Pods before their keys are "+
			"copied: set it to 0, or remove spec.slots", count.String()))
	}
	if spec.Slots.ClientHash == cachev1.HashCRC32Modulo && size > maxModuloSize {
		problems = append(problems, fmt.Sprintf("spec.slots.clientHash CRC32Modulo moves keys "+
			"between all Pods at the same time, "+
			"and supports a %[1]s of at most %[2]d, not %[3]d: lower %[1]s, or remove spec.slots.clientHash",
			field, maxModuloSize, size))
	}
	if err := memcached.CheckSlots(spec.ExtraArgs, HandsOver(spec)); err != nil {
		problems = append(problems, fmt.Sprintf("spec.extraArgs: %v", err))
	}
	for _, name := range []string{names.SlotService(mc.Name), names.SlotName(mc.Name, max(size, 1)-1)} {
		if len(name) > longestName {
			problems = append(problems, longName("slots", name, mc.Name))
			break
		}
	}
	return problems
}

// withoutSlots says how to give an operator the rights that slots and discovery need.
const withoutSlots = "remove the component overlays/components/without-slots or the chart's value rbac.slots=false"

// missingRights is the message about a field of the spec that needs rights which the operator does not have.
func missingRights(field string, missing []string, fix string) string {
	return fmt.Sprintf("spec.%s needs rights that this operator was installed without (%s): %s, or remove spec.%[1]s",
		field, strings.Join(missing, ", "), fix)
}

// longName is the message about a field of the spec that needs an object whose name would be too long.
func longName(field, name, instance string) string {
	return fmt.Sprintf("metadata.name is too long for %s: %q has more than %d characters; use a name of at most %d, or "+
		"remove spec.%[1]s", field, name, longestName, longestName-len(strings.TrimPrefix(name, instance)))
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
