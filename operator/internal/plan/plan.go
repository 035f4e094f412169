// Package plan computes the desired state of a cache from its spec, with every default resolved. It is pure: it reads
// nothing and writes nothing.
package plan

// The plan: what a cache shall be, built from the decisions and the spec.

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

// Plan is the desired state of a cache, with all defaults resolved.
type Plan struct {
	// Pod has everything that the Pod template is rendered from.
	Pod

	Namespace string

	// UID is the UID of the Memcached, for the owner references.
	UID types.UID

	// Suspended: nothing of the plan is written.
	Suspended bool

	Size int32

	// Record is written to the Deployment. Its revision is the revision of the template, or zero for a kept template
	// whose revision is unknown.
	Record Record

	// Template is what happens to the Pod template.
	Template TemplateChange

	// Endpoint is the name and port for clients that shard keys.
	Endpoint string

	// ServicePorts are the ports of the Service: first the port of the endpoint, then the other ports that clients use,
	// and the ports of Pods that are still to be replaced. AgentMetrics reports whether an existing or a planned Pod
	// serves metrics.
	ServicePorts []Port
	AgentMetrics bool

	// Pending lists the changes to the Pods that wait. OnlyMemory: a change to the memory is the only one, and no update
	// is made for that alone.
	Pending    []string
	OnlyMemory bool

	Rollout Rollout

	// Slots are the slots of the Pods; nil means none.
	Slots *Slots

	Autoscaling Autoscaling

	// UsualDay has the usual use of the cache, as learned up to now, and the deviations from it; nil if the use is not
	// observed.
	UsualDay *usual.Day

	// Discovery announces the servers to clients; nil means no auto discovery. AnswersDiscovery reports whether a Pod
	// can answer such clients.
	Discovery        *Discovery
	AnswersDiscovery bool

	// Certificate is requested from cert-manager; nil means none.
	Certificate *Certificate

	// Binding is what clients need to connect; nil means that no Secret has this data.
	Binding *Binding

	// Bootstrap copies the keys of other servers; nil means that nothing does.
	Bootstrap *Bootstrap

	// Disruption is how many Pods may be unavailable; nil means no PodDisruptionBudget.
	Disruption *intstr.IntOrString

	// NetworkPolicy states which clients may reach the Pods; nil means no NetworkPolicy.
	NetworkPolicy *NetworkPolicy

	// CommonMetadata is for all objects except the Pods.
	CommonMetadata cachev1.Metadata
	Service        Service
}

// Service has the user's settings of the Service.
type Service struct {
	Metadata       cachev1.Metadata
	IPFamilyPolicy cachev1.IPFamilyPolicy
	IPFamilies     []cachev1.IPFamily
}

// TemplateChange is what happens to the Pod template of the Deployment.
type TemplateChange int

const (
	// RenderTemplate renders the template from the plan.
	RenderTemplate TemplateChange = iota

	// KeepTemplate keeps the template. The rest of the Deployment follows the plan.
	KeepTemplate

	// NoTemplate creates no Deployment yet.
	NoTemplate
)

// NetworkPolicy states which clients may reach the Pods.
type NetworkPolicy struct {
	From        []networkingv1.NetworkPolicyPeer // none means all
	MetricsFrom []networkingv1.NetworkPolicyPeer // none means all

	// Restores: the Job that restores a snapshot is a client.
	Restores bool

	// UsageFrom is the namespace of the operator, which reads from the Pods how the cache is used; empty if the operator
	// does not read this.
	UsageFrom string
}

// Rollout is how Pods are replaced.
type Rollout struct {
	MaxSurge                intstr.IntOrString
	MaxUnavailable          intstr.IntOrString
	MinReadySeconds         int32
	ProgressDeadlineSeconds int32

	// RevisionHistoryLimit is the number of old ReplicaSets to keep; nil leaves it to the API server.
	RevisionHistoryLimit *int32
}

// DefaultProgressDeadlineSeconds is the API server's default for a Deployment.
const DefaultProgressDeadlineSeconds = 600

// decisions are the parts of a plan that depend on more than the spec.
type decisions struct {
	size       int32
	slots      *Slots
	disruption *intstr.IntOrString
	template   TemplateChange
	record     Record

	// pending lists the changes to the Pods that wait, and update those of them for which an update is made.
	pending, update []string
}

// plan combines the decisions with what follows from the spec.
func (d Draft) plan(decided decisions) Plan {
	spec, ports := d.memcached.Spec, d.servicePorts()
	endpoint := d.endpoint(ports)
	p := Plan{
		Pod:       d.Pod,
		Namespace: d.memcached.Namespace,
		UID:       d.memcached.UID,
		Suspended: spec.Suspend,

		Size:         decided.size,
		Record:       decided.record,
		Template:     decided.template,
		Endpoint:     endpoint,
		ServicePorts: ports,
		AgentMetrics: d.servesMetrics(),
		Pending:      decided.pending,
		OnlyMemory:   len(decided.pending) > 0 && len(decided.update) == 0,

		Rollout:        rollout(spec, d.record.Slots),
		Slots:          decided.slots,
		Discovery:      d.decideDiscovery(endpoint, decided.slots),
		Bootstrap:      d.decideBootstrap(decided.slots),
		Certificate:    d.certificate(decided.slots.Number(decided.size)),
		Disruption:     decided.disruption,
		NetworkPolicy:  networkPolicy(spec, d.defaults.Namespace),
		CommonMetadata: orZero(spec.CommonMetadata),
		Service:        service(spec),

		AnswersDiscovery: spec.Discovery != nil || d.current.OpenPorts.Has(names.DiscoveryPorts),
	}
	p.Binding, p.UsualDay = d.decideBinding(p), d.usualDay()
	p.Autoscaling = d.autoscaling(decided.slots)
	return p
}

func networkPolicy(spec cachev1.MemcachedSpec, operator string) *NetworkPolicy {
	wanted := orZero(spec.NetworkPolicy)
	if wanted.Mode == cachev1.NetworkPolicyDisabled {
		return nil
	}
	policy := &NetworkPolicy{
		From: wanted.From, MetricsFrom: wanted.MetricsFrom, Restores: orZero(spec.Bootstrap).From.Snapshot != nil,
	}
	if ObservesUse(spec) {
		policy.UsageFrom = operator
	}
	return policy
}

func service(spec cachev1.MemcachedSpec) Service {
	wanted := orZero(spec.Service)
	return Service{
		Metadata: orZero(wanted.Metadata), IPFamilyPolicy: wanted.IPFamilyPolicy, IPFamilies: wanted.IPFamilies,
	}
}

func orDefault[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}

func orZero[T any](value *T) T {
	var zero T
	return orDefault(value, zero)
}
