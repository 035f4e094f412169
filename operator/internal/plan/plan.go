// Package plan decides. From the spec it computes what the cache is to be, with every default resolved. It is pure:
// it reads nothing and writes nothing.
package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Defaults are what the operator was configured with for fields that the spec leaves out.
type Defaults struct {
	// Image is the memcached image.
	Image string

	// Architectures are the kubernetes.io/arch values that memcached Pods may run on; none means any.
	Architectures []string

	// UserID is the user that memcached runs as; nil leaves it to the cluster (OpenShift assigns one).
	UserID *int64
}

// Plan is what a cache is to be. It holds no default and no question any more.
type Plan struct {
	Name      string
	Namespace string

	// UID is the Memcached's, for the owner references of the children.
	UID types.UID

	// Suspended keeps all of this from being written.
	Suspended bool

	Size        int32
	Image       string
	PullSecrets []string
	Memcached   memcached.Settings
	Resources   corev1.ResourceRequirements
	UserID      *int64

	Architectures          []string
	PreferredArchitectures []cachev1.PreferredArchitecture
	Placement              cachev1.Placement

	Rollout Rollout

	// Disruption is how many nodes may be away; nil means that there is no PodDisruptionBudget.
	Disruption *intstr.IntOrString

	PodMetadata cachev1.PodMetadata
	Service     cachev1.ServiceMetadata
}

// Rollout says how nodes are replaced.
type Rollout struct {
	MaxSurge        intstr.IntOrString
	MaxUnavailable  intstr.IntOrString
	MinReadySeconds int32
}

// Endpoint is what a sharding client is given.
func (p Plan) Endpoint() string {
	return fmt.Sprintf("%s.%s.svc:%d", p.Name, p.Namespace, p.Memcached.Port)
}

// Compute returns what the cache is to be, or an *InvalidSpec.
func Compute(mc *cachev1.Memcached, defaults Defaults) (Plan, error) {
	spec := mc.Spec
	settings := nodeSettings(spec)
	p := Plan{
		Name:      mc.Name,
		Namespace: mc.Namespace,
		UID:       mc.UID,
		Suspended: spec.Suspend,

		Size:        orDefault(spec.Size, 1),
		Image:       spec.Image,
		PullSecrets: pullSecrets(spec),
		Memcached:   settings,
		Resources:   resources(spec, settings),
		UserID:      defaults.UserID,

		Architectures:          architectures(spec, defaults),
		PreferredArchitectures: spec.PreferredArchitectures,
		Placement:              placement(spec, mc.Name),

		Rollout:     rollout(spec),
		PodMetadata: orZero(spec.PodMetadata),
		Service:     orZero(spec.Service),
	}
	if p.Image == "" {
		p.Image = defaults.Image
	}
	p.Disruption = disruption(spec, p.Size)
	return p, validate(spec, p)
}

// nodeSettings rounds memory down to memcached's unit; the schema's lower bound keeps it above zero.
func nodeSettings(spec cachev1.MemcachedSpec) memcached.Settings {
	settings := memcached.Settings{
		ItemMemory:     memcached.DefaultItemMemory,
		Port:           names.PortNumber,
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

func pullSecrets(spec cachev1.MemcachedSpec) []string {
	var secrets []string
	for _, secret := range spec.ImagePullSecrets {
		secrets = append(secrets, secret.Name)
	}
	return secrets
}

func architectures(spec cachev1.MemcachedSpec, defaults Defaults) []string {
	if len(spec.Architectures) == 0 {
		return defaults.Architectures
	}
	var architectures []string
	for _, architecture := range spec.Architectures {
		architectures = append(architectures, string(architecture))
	}
	return architectures
}

func rollout(spec cachev1.MemcachedSpec) Rollout {
	wanted := orZero(spec.Rollout)
	return Rollout{
		MaxSurge:        orDefault(wanted.MaxSurge, intstr.FromInt32(1)),
		MaxUnavailable:  orDefault(wanted.MaxUnavailable, intstr.FromInt32(0)),
		MinReadySeconds: orDefault(wanted.MinReadySeconds, 0),
	}
}

// disruption is nothing for a single node: a budget for it would let nobody drain its machine, or do nothing.
func disruption(spec cachev1.MemcachedSpec, size int32) *intstr.IntOrString {
	if size <= 1 {
		return nil
	}
	return new(orDefault(orZero(spec.Disruption).MaxUnavailable, intstr.FromInt32(1)))
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
