// Package render makes the objects to apply from a plan. It is pure. Each kind of object has one function, in its own
// file.
package render

// The list of managed objects, in the order in which they are applied.

import (
	"encoding/json"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Object is a desired managed object. Apply overwrites its configuration with the API server's answer, so an Object can
// be used only once.
type Object struct {
	schema.GroupKind

	// Configuration holds exactly the fields that the operator owns.
	Configuration runtime.ApplyConfiguration

	// Metadata is the metadata within Configuration.
	Metadata *metav1ac.ObjectMetaApplyConfiguration

	// Ports are the client ports of a Deployment's Pods.
	Ports names.Ports

	// Guarded: the object is applied only over the version that was read, which is in Version.
	Guarded bool
	Version string

	// Withheld is why the object is neither applied nor deleted; empty if it is applied.
	Withheld string

	// Kept: the object is desired, but not written now.
	Kept bool
}

// Objects returns the managed objects of a cache in the order in which they are applied: the Service first, so that its
// name resolves as soon as a Pod is ready, then the NetworkPolicy, so that no Pod is ever open to everybody, or closed
// to its clients. The template is the one rendered for the plan; deployed is the existing Deployment, or nil.
func Objects(p plan.Plan, template Template, deployed *appsv1.Deployment) []Object {
	objects := append([]Object{service(p)}, slotObjects(p)...)
	if p.Discovery != nil {
		objects = append(objects, discoveryService(p))
	}
	if p.Certificate != nil && p.Certificate.Unavailable == "" {
		objects = append(objects, certificate(p))
	}
	if p.NetworkPolicy != nil {
		objects = append(objects, networkPolicy(p))
	}
	if p.Template != plan.NoTemplate {
		objects = append(objects, deployment(p, template.of(p, deployed)))
	}
	if p.Disruption != nil {
		objects = append(objects, disruptionBudget(p))
	}
	if p.Bootstrap != nil && !p.Bootstrap.Waits {
		objects = append(objects, bootstrap(p))
	}
	if p.Binding != nil {
		objects = append(objects, binding(p))
	}
	return objects
}

// KeptObjects returns the objects with which a cache whose spec is invalid keeps its slots (plan.Invalid).
func KeptObjects(p plan.Plan) []Object {
	return slices.DeleteFunc(slotObjects(p), func(o Object) bool { return o.Kind != sliceKind.Kind })
}

// owner returns the reference that makes the Memcached the controller of an object, so that the garbage collector
// deletes the object when the Memcached is deleted.
func owner(p plan.Plan) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(cachev1.GroupVersion.String()).
		WithKind("Memcached").
		WithName(p.Name).
		WithUID(p.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// labelsWith returns the operator's labels with the user's labels added. Later labels replace earlier ones, but not the
// labels of the selector.
func labelsWith(name string, users ...map[string]string) map[string]string {
	labels := names.Labels(name)
	for _, layer := range users {
		maps.Copy(labels, layer)
	}
	maps.Copy(labels, names.Selector(name))
	return labels
}

// configuration converts a part of the user's spec into an apply configuration with the same fields.
func configuration[T any](from any) *T {
	to := new(T)
	content, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(content, to)
	}
	if err != nil {
		panic(err) // Both are Kubernetes' own types with the same fields, and one was decoded from JSON.
	}
	return to
}
