package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// child is a child that is there.
type child struct {
	kind   schema.GroupKind
	object client.Object
}

// unwanted returns the children that are there, are ours, and are not among the objects.
func unwanted(mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object) []child {
	wanted := map[schema.GroupKind]bool{}
	for _, object := range objects {
		wanted[object.GroupKind] = true
	}
	var children []child
	for _, kind := range observe.Kinds() {
		live := snapshot.Children[kind.GroupKind()]
		if live == nil || wanted[kind.GroupKind()] {
			continue
		}
		if metav1.IsControlledBy(live, mc) && live.GetDeletionTimestamp().IsZero() {
			children = append(children, child{kind: kind.GroupKind(), object: live})
		}
	}
	return children
}

// remove deletes a child of ours as it was seen, and no other that may have taken its place.
func (s *Syncer) remove(ctx context.Context, live client.Object) (Outcome, error) {
	err := s.client.Delete(ctx, live, client.Preconditions{
		UID: new(live.GetUID()), ResourceVersion: new(live.GetResourceVersion()),
	})
	return Outcome{Verdict: Deleted}, client.IgnoreNotFound(err)
}
