package controller

// Rights that only some Memcacheds need, and that an installation may leave out.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// The rights that the operator needs only for caches with slots or discovery. overlays/components/without-slots removes
// these rights.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;patch
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=pods/resize,verbs=patch
// +kubebuilder:rbac:groups="",resources=services,verbs=delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch;create;patch;delete

// slotRights are the rights that slots need, and discoveryRights those that discovery needs. The right to resize Pods
// is not included: a cache can have slots without it, but its running Pods then can't be resized.
var (
	slotRights = []authorizationv1.ResourceAttributes{
		{Group: "", Resource: "pods", Verb: "get"},
		{Group: "", Resource: "pods", Verb: "patch"},
		{Group: "", Resource: "pods", Subresource: "status", Verb: "patch"},
		{Group: "", Resource: "services", Verb: "delete"},
		{Group: "apps", Resource: "deployments", Verb: "delete"},
		{Group: "apps", Resource: "replicasets", Verb: "list"},
		{Group: "apps", Resource: "replicasets", Verb: "watch"},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "get"},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "list"},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "watch"},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "create"},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "patch"},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "delete"},
	}
	discoveryRights = []authorizationv1.ResourceAttributes{
		{Group: "", Resource: "pods", Verb: "patch"},
		{Group: "", Resource: "services", Verb: "delete"},
	}
)

// rightsTTL is how long after a review of rights the operator assumes that the missing rights are still missing.
const rightsTTL = time.Minute

// rights are rights that the operator may not have. Once it has all of them, it does not ask the API server again.
type rights struct {
	access     authorizationclient.SelfSubjectAccessReviewInterface
	namespaces []string // empty means all
	needed     []authorizationv1.ResourceAttributes

	mu     sync.Mutex
	denied []string
	asked  time.Time // zero if it was never asked
}

// missing returns the rights that the operator does not have.
func (r *rights) missing(ctx context.Context) (missing []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	has := !r.asked.IsZero() && len(r.denied) == 0
	if has || time.Since(r.asked) < rightsTTL {
		return r.denied, nil
	}
	if missing, err = r.review(ctx); err != nil {
		return nil, err
	}
	r.denied, r.asked = missing, time.Now()
	return missing, nil
}

// review asks the API server which rights are missing. A watch is started only after this, because a watch without its
// right would fail again and again.
func (r *rights) review(ctx context.Context) ([]string, error) {
	namespaces := r.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var missing []string
	for _, right := range r.needed {
		for _, namespace := range namespaces {
			asked := right
			asked.Namespace = namespace
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked},
			}
			review, err := r.access.Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return nil, fmt.Errorf("ask whether the operator may %s: %w", describe(right), err)
			}
			if text := describe(right); !review.Status.Allowed && !slices.Contains(missing, text) {
				missing = append(missing, text)
			}
		}
	}
	return missing, nil
}

func describe(right authorizationv1.ResourceAttributes) string {
	return right.Verb + " " + strings.TrimSuffix(right.Resource+"/"+right.Subresource, "/")
}

// missingForDiscovery returns the rights that the operator does not have for the discovery of a Memcached.
func (r *Reconciler) missingForDiscovery(ctx context.Context, mc *cachev1.Memcached) ([]string, error) {
	if mc.Spec.Discovery != nil {
		return r.rights.missing(ctx)
	}
	return nil, nil
}
