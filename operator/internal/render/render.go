// Package render turns a plan into the objects to be applied. It is pure: one kind, one function, one file.
package render

import (
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Object is a child as it is to be. Applying overwrites its configuration with the API server's answer, so it
// serves once.
type Object struct {
	schema.GroupKind

	// Configuration holds exactly the fields that the operator owns.
	Configuration runtime.ApplyConfiguration

	// Metadata is the metadata within Configuration.
	Metadata *metav1ac.ObjectMetaApplyConfiguration

	// Ports are those on which clients can reach the Pods of a Deployment.
	Ports names.Ports
}

// Objects returns the children of a planned cache in the order in which they are applied: the Service first, so that
// the name resolves as soon as a Pod is ready, then the NetworkPolicy, so that no Pod is open to everybody, or closed
// to its clients, for a moment.
func Objects(p plan.Plan) []Object {
	objects := []Object{service(p)}
	if p.NetworkPolicy != nil {
		objects = append(objects, networkPolicy(p))
	}
	if p.Template != plan.NoTemplate {
		objects = append(objects, deployment(p))
	}
	if p.Disruption != nil {
		objects = append(objects, disruptionBudget(p))
	}
	return objects
}

// owner makes the Memcached the controller of a child, so that the child goes when the Memcached goes.
func owner(p plan.Plan) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(cachev1.GroupVersion.String()).
		WithKind("Memcached").
		WithName(p.Name).
		WithUID(p.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// labelsWith adds labels of the user's to ours. Theirs win, the last most of all, but not over those that select.
func labelsWith(p plan.Plan, users ...map[string]string) map[string]string {
	labels := names.Labels(p.Name)
	for _, layer := range users {
		maps.Copy(labels, layer)
	}
	maps.Copy(labels, names.Selector(p.Name))
	return labels
}

// configuration turns a part of the user's spec into what is applied: the same fields, and no others.
func configuration[T any](from any) *T {
	to := new(T)
	content, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(content, to)
	}
	if err != nil {
		panic(err) // Both are Kubernetes' own types with the same fields, and one was read from JSON.
	}
	return to
}
