package controller

// The objects that a former run of the operator has left behind without a trace in any status.

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// remnants are objects of a kind that is watched only once a Memcached needs it. If the operator ended between the
// creation of such an object and the write of the status, and the spec has changed since, only a list request shows
// that the object exists.
type remnants struct {
	live       client.Reader
	kind       observe.Kind
	namespaces []string // empty means all

	mu    sync.Mutex
	known bool
	exist bool
}

// found reports whether an object of the kind existed at the first call: only that call asks the API server, once for
// each namespace. If the operator has no right to list the objects, or the API server does not know the kind, it
// returns false, because the operator then cannot have created any.
func (r *remnants) found(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known {
		return r.exist, nil
	}
	namespaces := r.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(r.kind.GroupVersion().WithKind(r.kind.Kind + "List"))
		err := r.live.List(ctx, list, client.InNamespace(namespace), client.Limit(1),
			client.MatchingLabelsSelector{Selector: r.kind.Selector()})
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return false, fmt.Errorf("look for a %s of a former spec: %w", r.kind.Kind, err)
		}
		r.exist = r.exist || len(list.Items) > 0
	}
	r.known = true
	return r.exist, nil
}
