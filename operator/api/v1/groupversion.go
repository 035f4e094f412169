// Package v1 is the API of the memcached operator: cache.example.com/v1.
//
// After the first release, the API only grows: fields may be added, but bounds, defaults and CEL rules stay as they are
// (OLM v1 refuses an upgrade that changes one of them).
//
// Switches follow one rule. To turn on a feature that is off by default, a user adds its object, such as slots, tls or
// auth; {} is enough unless a field is required. A feature that is on by default has a field mode with a default in the
// schema, and the other value of mode switches it off: metrics and networkPolicy (Enabled or Disabled), and
// slots.handoff (Auto or Never). Fields that Kubernetes' own API also has keep the names and types that they have
// there: suspend, podTemplate.automountServiceAccountToken.
//
// +kubebuilder:object:generate=true
// +groupName=cache.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion names this API.
	GroupVersion = schema.GroupVersion{Group: "cache.example.com", Version: "v1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme makes the types of this API known to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Memcached{}, &MemcachedList{}, &MemcachedSnapshot{}, &MemcachedSnapshotList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
