// Package plan decides. From the spec and from what was observed it computes what the cache is to be, with
// every default resolved. It is pure: it reads nothing and writes nothing.
package plan

import (
	"fmt"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/types"

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

	Size          int32
	Image         string
	Memcached     memcached.Settings
	Architectures []string
	UserID        *int64
}

// Endpoint is what a sharding client is given.
func (p Plan) Endpoint() string {
	return fmt.Sprintf("%s.%s.svc:%d", p.Name, p.Namespace, p.Memcached.Port)
}

// InvalidSpec says that a spec asks for something impossible, which the schema could not tell.
type InvalidSpec struct {
	// Field is the path of the field, such as "spec.image".
	Field string

	// Value is what the field holds.
	Value string

	// Remedy says what is wrong and what to do.
	Remedy string
}

func (e *InvalidSpec) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Remedy)
}

// Compute returns what the cache is to be, or an *InvalidSpec.
func Compute(mc *cachev1.Memcached, defaults Defaults) (Plan, error) {
	image, err := image(mc.Spec.Image, defaults.Image)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Name:      mc.Name,
		Namespace: mc.Namespace,
		UID:       mc.UID,
		Size:      orDefault(mc.Spec.Size, 1),
		Image:     image,
		Memcached: memcached.Settings{
			ItemMemory:     itemMemory(mc.Spec),
			Port:           names.PortNumber,
			MaxConnections: memcached.DefaultMaxConnections,
			Threads:        memcached.DefaultThreads,
		},
		Architectures: defaults.Architectures,
		UserID:        defaults.UserID,
	}, nil
}

func image(wanted, fallback string) (string, error) {
	if wanted == "" {
		return fallback, nil
	}
	if _, err := reference.ParseDockerRef(wanted); err != nil {
		return "", &InvalidSpec{
			Field: "spec.image", Value: wanted,
			Remedy: "not an image reference (" + err.Error() + "): write [registry[:port]/]name[:tag][@digest]",
		}
	}
	return wanted, nil
}

// itemMemory rounds down to memcached's unit; the schema's lower bound keeps it above zero.
func itemMemory(spec cachev1.MemcachedSpec) int64 {
	if spec.Memory == nil {
		return memcached.DefaultItemMemory
	}
	return spec.Memory.Value() / memcached.Mebibyte * memcached.Mebibyte
}

func orDefault[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}
