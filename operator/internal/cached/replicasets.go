package cached

// Trims ReplicaSets.

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// TrimReplicaSet keeps the metadata that shows which ReplicaSet of a Deployment is current.
func TrimReplicaSet(object any) (any, error) {
	set, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	trimmed := &metav1.PartialObjectMetadata{TypeMeta: set.TypeMeta}
	trimmed.Name, trimmed.Namespace, trimmed.UID = set.Name, set.Namespace, set.UID
	trimmed.ResourceVersion, trimmed.OwnerReferences = set.ResourceVersion, set.OwnerReferences
	trimmed.Labels = only(set.Labels, names.LabelInstance)
	trimmed.Annotations = only(set.Annotations, names.AnnotationRevision)
	return trimmed, nil
}

// only returns a map with this key alone, if it has the key.
func only(from map[string]string, key string) map[string]string {
	if value, found := from[key]; found {
		return map[string]string{key: value}
	}
	return nil
}
