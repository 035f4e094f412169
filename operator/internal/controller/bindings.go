package controller

// The watch of the Secrets of bindings, and the rights on these Secrets. Only caches with a binding need the watch and
// the rights.

import (
	"context"
	"fmt"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// bindingVerbs are the verbs that the operator needs for the Secret of a binding, in addition to the verbs that read
// Secrets. overlays/components/binding grants these rights.
var bindingVerbs = []string{"create", "patch", "delete"}

// bindingWatch watches the Secrets of bindings, once a Memcached has a binding.
type bindingWatch struct {
	controller controller.Controller
	cache      cache.Cache
	reader     client.Reader
	access     authorizationclient.SelfSubjectAccessReviewInterface
	secrets    source.Source
	remnants   *remnants

	// missing has, for each Secret, the rights that the operator does not have.
	missing *expiring.Expiring

	mu      sync.Mutex
	started bool
}

func newBindingWatch(
	mgr ctrl.Manager, reader client.Reader, access authorizationclient.SelfSubjectAccessReviewInterface,
	changes predicate.Predicate, remnants *remnants,
) *bindingWatch {
	owner := handler.EnqueueRequestForOwner(
		mgr.GetScheme(), mgr.GetRESTMapper(), &cachev1.Memcached{}, handler.OnlyControllerOwner())
	var secret client.Object = &corev1.Secret{}
	return &bindingWatch{
		cache: mgr.GetCache(), reader: reader, access: access, missing: expiring.NewExpiring(),
		secrets: source.Kind(mgr.GetCache(), secret, owner, changes), remnants: remnants,
	}
}

// startFor starts the watch if the Memcached has a binding, or had one, or the Secret of any former binding still
// exists. It returns whether to look for Secrets of the Memcached's bindings, and which rights on these Secrets are
// missing. Once the watch runs, the operator always looks for these Secrets, because this costs no request, and a
// Secret may have been created for a spec that changed before the status named the Secret.
func (w *bindingWatch) startFor(
	ctx context.Context, mc *cachev1.Memcached,
) (concerned bool, missing []string, err error) {
	if mc.Spec.Binding == nil && mc.Status.Binding == nil && !w.isStarted() {
		if exist, err := w.remnants.found(ctx); !exist {
			return false, nil, err
		}
	}
	if err := w.start(ctx); err != nil {
		return false, nil, err
	}
	missing, err = w.missingRights(ctx, mc)
	return true, missing, err
}

func (w *bindingWatch) start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return nil
	}
	err := w.cache.IndexField(ctx, &corev1.Secret{}, observe.MemcachedIndex,
		func(object client.Object) []string { return []string{observe.InstanceOf(object)} })
	if err != nil {
		return fmt.Errorf("index the Secrets of bindings: %w", err)
	}
	if err := w.controller.Watch(w.secrets); err != nil {
		return fmt.Errorf("watch the Secrets of bindings: %w", err)
	}
	w.started = true
	return nil
}

func (w *bindingWatch) isStarted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started
}

// missingRights returns which rights on the Secret of the binding are missing. It reviews the rights only while the
// Secret does not exist: if the Secret exists, the operator had the rights to create it. A role may restrict the rights
// to the name of the Secret, because the operator creates the Secret with an apply request, which contains the name.
func (w *bindingWatch) missingRights(ctx context.Context, mc *cachev1.Memcached) ([]string, error) {
	if mc.Spec.Binding == nil {
		return nil, nil
	}
	key := client.ObjectKey{Namespace: mc.Namespace, Name: mc.Spec.Binding.SecretName}
	err := w.reader.Get(ctx, key, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	if known, ok := w.missing.Get(key); ok {
		return known.([]string), nil
	}
	needed := rights{access: w.access, namespaces: []string{mc.Namespace}}
	for _, verb := range bindingVerbs {
		needed.needed = append(needed.needed, authorizationv1.ResourceAttributes{
			Resource: "secrets", Verb: verb, Name: key.Name,
		})
	}
	missing, err := needed.review(ctx)
	if err == nil {
		w.missing.Set(key, missing, rightsTTL)
	}
	return missing, err
}
