// Package plan computes the desired state of a cache from its spec, with every default resolved. It is pure: it reads
// nothing and writes nothing.
package plan

// Resolves every default.

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Plan is the desired state of a cache, with all defaults resolved.
type Plan struct {
	Name      string
	Namespace string

	// UID is the Memcached's, for the owner references.
	UID types.UID

	// Suspended: nothing of the plan is written.
	Suspended bool

	// Pause: the rollout in progress is paused.
	Pause bool

	Size        int32
	Image       string
	PullPolicy  corev1.PullPolicy // empty: it follows from each image
	PullSecrets []string
	Memcached   memcached.Settings
	Resources   corev1.ResourceRequirements
	UserID      *int64 // nil leaves it to the cluster

	// TLSSecret and AuthSecret name Secrets, or are empty.
	TLSSecret  string
	AuthSecret string

	// Agent is the agent beside memcached; nil means none.
	Agent *Agent

	// Record is written to the Deployment. Its revision is that of the template, or zero for a kept template of unknown
	// origin.
	Record Record

	// Template is what happens to the Pod template.
	Template TemplateChange

	// Deployed is the existing Deployment, or nil. Its Pod template, or the order of its sets, is kept.
	Deployed *appsv1.Deployment

	// Endpoint is the name and port for clients that shard keys.
	Endpoint string

	// ServicePorts are the ports of the Service: those that clients use, the one of the endpoint first, and those of
	// Pods that are still to be replaced. AgentMetrics reports whether any of these Pods serves metrics.
	ServicePorts []Port
	AgentMetrics bool

	// Pending is what the pending update would change.
	Pending []string

	Architectures          []string
	PreferredArchitectures []cachev1.PreferredArchitecture

	// Placement is the rest of the placement; zones are constraints of it.
	Placement cachev1.Placement

	Rollout Rollout

	// TerminationDelaySeconds is how long a terminating Pod still answers.
	TerminationDelaySeconds int32

	// Slots are the slots of the Pods; nil means none.
	Slots *Slots

	// Disruption is how many Pods may be unavailable; nil means no PodDisruptionBudget.
	Disruption *intstr.IntOrString

	// NetworkPolicy is who may reach the Pods; nil means no NetworkPolicy.
	NetworkPolicy *NetworkPolicy

	// CommonMetadata is for all objects except the Pods.
	CommonMetadata cachev1.Metadata
	PodTemplate    PodTemplate
	Service        Service
}

// PodTemplate is what the Pods have besides their containers and their placement.
type PodTemplate struct {
	Metadata           cachev1.Metadata
	ServiceAccountName string // empty leaves it to the API server
	MountToken         bool
	DNSConfig          *cachev1.DNSConfig
}

// Service is what the user chooses about the Service.
type Service struct {
	Metadata       cachev1.Metadata
	IPFamilyPolicy cachev1.IPFamilyPolicy
	IPFamilies     []cachev1.IPFamily
}

// TemplateChange is what happens to the Pod template of the Deployment.
type TemplateChange int

const (
	// RenderTemplate renders it from the plan.
	RenderTemplate TemplateChange = iota

	// KeepTemplate keeps it. The rest of the Deployment follows the plan.
	KeepTemplate

	// NoTemplate creates no Deployment yet.
	NoTemplate
)

// NetworkPolicy is who may reach the Pods.
type NetworkPolicy struct {
	From        []networkingv1.NetworkPolicyPeer // none means all
	MetricsFrom []networkingv1.NetworkPolicyPeer // none means all
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

// Compute returns the plan for a cache, or an *InvalidSpec. The current state determines what its Pods are made from,
// and which ports stay open during a rollout.
func Compute(mc *cachev1.Memcached, current Current, defaults Defaults) (Plan, error) {
	before, now := records(mc, current.Deployment, defaults)
	p, err := choose(mc, current, defaults, before, now)
	p.Pause = mustPause(mc, current.Deployment)
	if err == nil && p.Slots != nil {
		p.decideSlots(mc.Spec, current, defaults.Now)
	}
	switch {
	case err != nil && before != nil && before.Slots && defaults.Slots && current.Deployment != nil:
		p.keepSlots(mc, current, defaults.Now)
	case err == nil && !current.SecretsUsable:
		p.waitForSecrets(current, orZero(before))
	case err == nil && p.Slots != nil && p.Slots.Moving && before != nil:
		p.keepTemplate(*before)
	}
	if err == nil && before != nil {
		made := p.Record
		if p.Suspended {
			made = *before
		}
		p.Pending = pending(leftOpen(mc.Spec, made.Inputs), leftOpen(mc.Spec, now.Inputs))
	}
	return p, err
}

// compute plans a cache whose Pods are made from a record.
func compute(mc *cachev1.Memcached, current Current, defaults Defaults, record Record) (Plan, error) {
	spec := mc.Spec
	settings := memcachedSettings(spec)
	settings.Handoff = record.Slots
	p := Plan{
		Name:      mc.Name,
		Namespace: mc.Namespace,
		UID:       mc.UID,
		Suspended: spec.Suspend,

		Size:        orDefault(spec.Size, 1),
		Image:       cmp.Or(spec.Image, record.Image),
		PullPolicy:  corev1.PullPolicy(spec.ImagePullPolicy),
		PullSecrets: pullSecrets(spec),
		Memcached:   settings,
		Resources:   resources(spec, settings),
		UserID:      record.Platform.userID(),
		TLSSecret:   orZero(spec.TLS).SecretName,
		AuthSecret:  orZero(spec.Auth).SecretName,
		Agent:       agent(spec, record),
		Record:      record,
		Deployed:    current.Deployment,

		Architectures:          architectures(spec, record),
		PreferredArchitectures: orZero(spec.Placement).PreferredArchitectures,
		Placement:              placement(spec, mc.Name),

		Rollout:                 rollout(spec, record.Slots),
		TerminationDelaySeconds: orDefault(spec.TerminationDelaySeconds, defaultTerminationDelaySeconds),
		Slots:                   slotsOf(mc, record),
		NetworkPolicy:           networkPolicy(spec),

		CommonMetadata: orZero(spec.CommonMetadata),
		PodTemplate:    podTemplate(spec),
		Service:        service(spec),
	}
	p.Disruption = disruption(spec, p.Size)
	p.setPorts(current)
	p.Endpoint = p.endpoint(mc.Status.Endpoint, current.Pods)
	if err := validate(spec, p, defaults); err != nil {
		return p, err
	}
	p.Record.Template = defaults.Hash(p)
	return p, nil
}

// waitForSecrets defers a Pod template with which new Pods could not start. The size and the network access of the
// cache do not wait.
func (p *Plan) waitForSecrets(current Current, before Record) {
	if current.Deployment == nil {
		p.Template = NoTemplate
		return
	}
	p.keepTemplate(before)
}

// keepTemplate defers another Pod template than the recorded one.
func (p *Plan) keepTemplate(before Record) {
	if before.Template != p.Record.Template {
		p.Template, p.Record = KeepTemplate, before
	}
}

// memcachedSettings rounds memory down to memcached's unit; the minimum of the schema keeps it above zero.
func memcachedSettings(spec cachev1.MemcachedSpec) memcached.Settings {
	settings := memcached.Settings{
		ItemMemory:     memcached.DefaultItemMemory,
		Port:           names.PortNumber,
		TLS:            tlsSettings(spec),
		AuthFile:       authFile(spec),
		MaxConnections: orDefault(spec.MaxConnections, memcached.DefaultMaxConnections),
		Threads:        orDefault(spec.Threads, memcached.DefaultThreads),
		MaxItemSize:    memcached.DefaultMaxItemSize,
		ExtraArguments: spec.ExtraArgs,
	}
	if spec.Memory != nil {
		settings.ItemMemory = spec.Memory.Value() / memcached.Mebibyte * memcached.Mebibyte
	}
	if spec.MaxItemSize != nil {
		settings.MaxItemSize = spec.MaxItemSize.Value()
	}
	return settings
}

func networkPolicy(spec cachev1.MemcachedSpec) *NetworkPolicy {
	wanted := orZero(spec.NetworkPolicy)
	if wanted.Mode == cachev1.NetworkPolicyDisabled {
		return nil
	}
	return &NetworkPolicy{From: wanted.From, MetricsFrom: wanted.MetricsFrom}
}

func pullSecrets(spec cachev1.MemcachedSpec) []string {
	var secrets []string
	for _, secret := range spec.ImagePullSecrets {
		secrets = append(secrets, secret.Name)
	}
	return secrets
}

func architectures(spec cachev1.MemcachedSpec, record Record) []string {
	chosen := orZero(spec.Placement).Architectures
	if len(chosen) == 0 {
		return record.Architectures
	}
	var architectures []string
	for _, architecture := range chosen {
		architectures = append(architectures, string(architecture))
	}
	return architectures
}

// defaultServiceAccount is the ServiceAccount of a Pod that names none.
const defaultServiceAccount = "default"

func podTemplate(spec cachev1.MemcachedSpec) PodTemplate {
	wanted := orZero(spec.PodTemplate)
	account := wanted.ServiceAccountName
	if account == defaultServiceAccount {
		account = "" // The default of the API server is no reason for other Pods.
	}
	return PodTemplate{
		Metadata: orZero(wanted.Metadata), ServiceAccountName: account,
		MountToken: wanted.AutomountServiceAccountToken, DNSConfig: dnsConfig(wanted.DNSConfig),
	}
}

// dnsConfig returns nil for an empty configuration, and sorts the options, whose order has no meaning.
func dnsConfig(wanted *cachev1.DNSConfig) *cachev1.DNSConfig {
	if wanted == nil || len(wanted.Nameservers)+len(wanted.Searches)+len(wanted.Options) == 0 {
		return nil
	}
	sorted := wanted.DeepCopy()
	slices.SortFunc(sorted.Options, func(a, b cachev1.DNSOption) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
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
