package controller

// What only caches with slots need: two watches, and rights that an installation may leave out.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// What slots need beyond the rights for other caches. overlays/components/without-slots takes these rights away.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;patch
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=services,verbs=delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch;create;patch;delete

// slotRights are the same rights, by verb.
var slotRights = []authorizationv1.ResourceAttributes{
	{Group: "", Resource: "pods", Verb: "get"},
	{Group: "", Resource: "pods", Verb: "patch"},
	{Group: "", Resource: "pods", Subresource: "status", Verb: "patch"},
	{Group: "", Resource: "services", Verb: "delete"},
	{Group: "apps", Resource: "replicasets", Verb: "list"},
	{Group: "apps", Resource: "replicasets", Verb: "watch"},
	{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "get"},
	{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "list"},
	{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "watch"},
	{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "create"},
	{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "patch"},
	{Group: "discovery.k8s.io", Resource: "endpointslices", Verb: "delete"},
}

// slotRightsTTL is how long the answer is valid that rights are missing.
const slotRightsTTL = time.Minute

// slotWatch watches EndpointSlices, and the metadata of ReplicaSets, once a Memcached has slots.
type slotWatch struct {
	controller controller.Controller
	cache      cache.Cache
	reader     client.Reader
	access     authorizationclient.SelfSubjectAccessReviewInterface
	namespaces []string // empty means all
	slices     source.Source
	sets       source.Source

	mu      sync.Mutex
	started bool
	missing []string  // rights
	asked   time.Time // when they were missing
}

func newSlotWatch(
	mgr ctrl.Manager, reader client.Reader, namespaces []string, changes predicate.Predicate,
) (*slotWatch, error) {
	access, err := authorizationclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("set up the review of rights: %w", err)
	}
	owner := handler.EnqueueRequestForOwner(
		mgr.GetScheme(), mgr.GetRESTMapper(), &cachev1.Memcached{}, handler.OnlyControllerOwner())
	var slice, set client.Object = &discoveryv1.EndpointSlice{}, observe.ReplicaSet()
	return &slotWatch{
		cache: mgr.GetCache(), reader: reader, access: access.SelfSubjectAccessReviews(), namespaces: namespaces,
		slices: source.Kind(mgr.GetCache(), slice, owner, changes),
		sets: source.Kind(mgr.GetCache(), set,
			handler.EnqueueRequestsFromMapFunc(memcachedOf), predicate.Predicate(replicaSetChanges)),
	}, nil
}

// startFor starts the watches if the Memcached has slots, or had some. It returns whether that is so, and which rights
// are missing for it.
func (w *slotWatch) startFor(ctx context.Context, mc *cachev1.Memcached) (hasSlots bool, missing []string, err error) {
	if hasSlots, err = w.concerns(ctx, mc); err != nil || !hasSlots {
		return false, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return true, nil, nil
	}
	if len(w.missing) == 0 || time.Since(w.asked) >= slotRightsTTL {
		if w.missing, err = w.missingRights(ctx); err != nil {
			return false, nil, err
		}
		w.asked = time.Now()
	}
	if len(w.missing) > 0 {
		return false, w.missing, nil
	}
	if err := w.start(ctx); err != nil {
		return false, nil, err
	}
	w.started = true
	return true, nil, nil
}

// concerns reports whether a Memcached has slots, or still has objects of slots that it had. Of these, the Service of
// all slots is deleted last, and Services are cached in any case: so an operator that was restarted finds them, too.
func (w *slotWatch) concerns(ctx context.Context, mc *cachev1.Memcached) (bool, error) {
	if mc.Spec.Slots != nil || len(mc.Status.Slots) > 0 {
		return true, nil
	}
	key := client.ObjectKey{Namespace: mc.Namespace, Name: names.SlotService(mc.Name)}
	former := &corev1.Service{}
	switch err := w.reader.Get(ctx, key, former); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read Service %s: %w", key, err)
	}
	owner := metav1.GetControllerOf(former)
	return owner == nil || owner.UID == mc.UID, nil
}

func (w *slotWatch) start(ctx context.Context) error {
	for _, kind := range []client.Object{&corev1.Service{}, &discoveryv1.EndpointSlice{}, observe.ReplicaSet()} {
		err := w.cache.IndexField(ctx, kind, observe.MemcachedIndex,
			func(object client.Object) []string { return []string{observe.InstanceOf(object)} })
		if err != nil {
			return fmt.Errorf("index the objects of slots: %w", err)
		}
	}
	for _, kind := range []source.Source{w.slices, w.sets} {
		if err := w.controller.Watch(kind); err != nil {
			return fmt.Errorf("watch the objects of slots: %w", err)
		}
	}
	return nil
}

// missingRights asks the API server: a watch without the right to it would fail again and again.
func (w *slotWatch) missingRights(ctx context.Context) ([]string, error) {
	namespaces := w.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var missing []string
	for _, right := range slotRights {
		for _, namespace := range namespaces {
			asked := right
			asked.Namespace = namespace
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked},
			}
			review, err := w.access.Create(ctx, review, metav1.CreateOptions{})
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
