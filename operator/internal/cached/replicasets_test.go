package cached

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

func TestATrimmedReplicaSetHasOnlyItsOwnerCacheAndRevision(t *testing.T) {
	set := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "cache-7f", Namespace: "team", UID: "uid-7f", ResourceVersion: "7", Generation: 2,
			Labels:          map[string]string{"app": "memcached", names.LabelInstance: "cache", "pod-template-hash": "7f"},
			Annotations:     map[string]string{names.AnnotationRevision: "3", "deployment.kubernetes.io/desired-replicas": "3"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Deployment", Name: "cache", UID: "uid", Controller: new(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager"}},
		},
	}
	want := set.DeepCopy()
	want.Generation, want.ManagedFields = 0, nil
	want.Labels = map[string]string{names.LabelInstance: "cache"}
	want.Annotations = map[string]string{names.AnnotationRevision: "3"}
	once, err := TrimReplicaSet(set)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := TrimReplicaSet(once) // A ReplicaSet may be trimmed twice on its way into the cache.
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, twice); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
