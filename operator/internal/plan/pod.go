package plan

// Resolves the defaults of everything that the Pod template is rendered from.

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Pod is what the Pod template of a cache is rendered from, with all defaults resolved. No other part of a plan changes
// the template.
type Pod struct {
	// Name is the name of the Memcached.
	Name string

	// Revision is the revision of the template.
	Revision int

	Image       string
	PullPolicy  corev1.PullPolicy // empty: from the tag of each image, as in Kubernetes
	PullSecrets []string
	Memcached   memcached.Settings
	Resources   corev1.ResourceRequirements
	UserID      *int64 // nil leaves it to the cluster

	// TLSSecret and AuthSecret name Secrets, or are empty.
	TLSSecret  string
	AuthSecret string

	// Agent is the agent next to memcached; nil means none.
	Agent *Agent

	// NeedsSlot: the Pod becomes ready only with a slot.
	NeedsSlot bool

	// Discovery: the agent answers clients with auto discovery.
	Discovery bool

	// HandoffTimeoutSeconds is how long a terminating Pod continues to serve its slot, until another Pod has it. It is 0
	// without slots.
	HandoffTimeoutSeconds int32

	// TerminationDelaySeconds is how long a terminating Pod continues to answer clients.
	TerminationDelaySeconds int32

	Architectures          []string
	PreferredArchitectures []cachev1.PreferredArchitecture

	// Placement is the placement without architectures. Its constraints include those of zones.
	Placement   cachev1.Placement
	PodTemplate PodTemplate
}

// PodTemplate has the settings of the Pods other than their containers and their placement.
type PodTemplate struct {
	Metadata           cachev1.Metadata
	ServiceAccountName string // empty leaves it to the API server
	MountToken         bool
	DNSConfig          *cachev1.DNSConfig
}

// podOf resolves everything that the Pods of a cache are made from, with the inputs of a record.
func podOf(mc *cachev1.Memcached, record Record) Pod {
	spec := mc.Spec
	settings := memcachedSettings(spec)
	settings.ItemMemory = cmp.Or(record.Memory, settings.ItemMemory)
	settings.Handoff = record.Slots
	handoffTimeout := int32(0)
	if record.Slots {
		handoffTimeout = handoffTimeoutSeconds(spec)
	}
	return Pod{
		Name:        mc.Name,
		Revision:    record.Revision,
		Image:       cmp.Or(spec.Image, record.Image),
		PullPolicy:  corev1.PullPolicy(spec.ImagePullPolicy),
		PullSecrets: pullSecrets(spec),
		Memcached:   settings,
		Resources:   resources(spec, settings),
		UserID:      record.Platform.userID(),
		TLSSecret:   mc.TLSSecretName(),
		AuthSecret:  orZero(spec.Auth).SecretName,
		Agent:       agent(spec, record),
		NeedsSlot:   record.Slots,
		Discovery:   spec.Discovery != nil,

		HandoffTimeoutSeconds:   handoffTimeout,
		TerminationDelaySeconds: orDefault(spec.TerminationDelaySeconds, defaultTerminationDelaySeconds),

		Architectures:          architectures(spec, record),
		PreferredArchitectures: orZero(spec.Placement).PreferredArchitectures,
		Placement:              placement(spec, mc.Name),
		PodTemplate:            podTemplate(spec),
	}
}

func memcachedSettings(spec cachev1.MemcachedSpec) memcached.Settings {
	settings := memcached.Settings{
		ItemMemory:     ItemMemory(spec),
		Port:           names.PortNumber,
		TLS:            tlsSettings(spec),
		AuthFile:       authFile(spec),
		MaxConnections: orDefault(spec.MaxConnections, memcached.DefaultMaxConnections),
		Threads:        Threads(spec),
		MaxItemSize:    memcached.DefaultMaxItemSize,
		ExtraArguments: spec.ExtraArgs,
	}
	if spec.MaxItemSize != nil {
		settings.MaxItemSize = spec.MaxItemSize.Value()
	}
	return settings
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
		account = "" // Writing out the API server's default must not replace the Pods.
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
