package observe

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// replicaSets is a cache with ReplicaSets.
type replicaSets struct {
	client.Reader
	items []metav1.PartialObjectMetadata
}

func (r replicaSets) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*metav1.PartialObjectMetadataList).Items = r.items
	return nil
}

// setOf returns a ReplicaSet with this revision, which the Deployment with this uid controls.
func setOf(deployment types.UID, hash, revision string) metav1.PartialObjectMetadata {
	set := ReplicaSet()
	set.Name, set.Namespace, set.UID = "cache-"+hash, "team", types.UID(hash)
	set.Labels = map[string]string{"app": "memcached", "memcached_cr": "cache", "pod-template-hash": hash}
	set.Annotations = map[string]string{names.AnnotationRevision: revision, "deployment.kubernetes.io/desired-replicas": "3"}
	set.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", Name: "cache", UID: deployment, Controller: new(true)}}
	return *set
}

func TestTheCurrentReplicaSetHasTheRevisionOfItsDeployment(t *testing.T) {
	owned := func(hash, revision string) metav1.PartialObjectMetadata { return setOf("now", hash, revision) }
	tests := map[string]struct {
		revision string
		sets     []metav1.PartialObjectMetadata
		want     string
	}{
		"the first one":             {"1", list(owned("a", "1")), "a"},
		"a new one, of many":        {"10", list(owned("a", "8"), owned("c", "10"), owned("b", "9")), "c"},
		"an old one, after an undo": {"3", list(owned("a", "3"), owned("b", "2")), "a"},
		"an undo of which the Deployment does not know yet":     {"2", list(owned("a", "3"), owned("b", "2")), ""},
		"a new one that the Deployment does not know yet":       {"2", list(owned("c", "3"), owned("b", "2")), ""},
		"a new one, where the old one was deleted":              {"2", list(owned("c", "3")), ""},
		"a new one that is not in the cache yet":                {"3", list(owned("a", "1"), owned("b", "2")), ""},
		"no ReplicaSet yet":                                     {"", nil, ""},
		"a Deployment that lost its revision":                   {"", list(owned("a", "1")), ""},
		"neither has a revision":                                {"", list(owned("a", "")), ""},
		"another revision that is no number":                    {"2", list(owned("a", "x"), owned("b", "2")), "b"},
		"two ReplicaSets of the same revision":                  {"2", list(owned("a", "2"), owned("b", "2")), ""},
		"the ReplicaSet of a deleted Deployment, of its name":   {"1", list(setOf("before", "a", "1")), ""},
		"the ReplicaSets of a deleted Deployment do not matter": {"1", list(owned("b", "1"), setOf("before", "a", "7")), "b"},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
				Name: "cache", Namespace: "team", UID: "now", Generation: 4, // which the Deployment controller has not observed
				Annotations: map[string]string{names.AnnotationRevision: tc.revision},
			}}
			collector := Collector{Cache: replicaSets{items: tc.sets}}
			if got, err := collector.currentHash(t.Context(), deployment); got != tc.want || err != nil {
				t.Errorf("got %q, want %q; error %v", got, tc.want, err)
			}
		})
	}
	if got, err := (Collector{}).currentHash(t.Context(), nil); got != "" || err != nil {
		t.Errorf("without a Deployment: %q, error %v", got, err)
	}
}

func list(sets ...metav1.PartialObjectMetadata) []metav1.PartialObjectMetadata { return sets }

func TestWhichUpdateOfAReplicaSetCounts(t *testing.T) {
	for sentence, tc := range map[string]struct {
		change func(*metav1.PartialObjectMetadata)
		want   bool
	}{
		"its Pods became ready": {func(s *metav1.PartialObjectMetadata) { s.ResourceVersion = "8" }, false},
		"it was scaled": {func(s *metav1.PartialObjectMetadata) {
			s.Annotations["deployment.kubernetes.io/desired-replicas"] = "4"
		}, false},
		"an undo":             {func(s *metav1.PartialObjectMetadata) { s.Annotations[names.AnnotationRevision] = "4" }, true},
		"it has no owner now": {func(s *metav1.PartialObjectMetadata) { s.OwnerReferences = nil }, true},
		"it has another owner": {func(s *metav1.PartialObjectMetadata) {
			s.OwnerReferences = setOf("next", "a", "3").OwnerReferences
		}, true},
	} {
		before := setOf("now", "a", "3")
		after := before.DeepCopy()
		tc.change(after)
		if got := ReplicaSetChanged(&before, after); got != tc.want {
			t.Errorf("%s: %t, want %t", sentence, got, tc.want)
		}
		if got := ReplicaSetChanged(after, &before); got != tc.want {
			t.Errorf("the reverse of %s: %t, want %t", sentence, got, tc.want)
		}
	}
}
