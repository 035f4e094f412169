package controller

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// The operator reads the content of the Secrets that a Memcached names, but watches only metadata. A role cannot
// distinguish content from metadata.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// secretIndex is the name of the index that finds the Memcacheds that name a Secret.
const secretIndex = "secrets"

func indexSecrets(mgr ctrl.Manager) error {
	return mgr.GetFieldIndexer().IndexField(context.Background(), &cachev1.Memcached{}, secretIndex,
		func(object client.Object) []string { return secrets.NamesOf(object.(*cachev1.Memcached)) })
}

// secretWatch watches the metadata of Secrets, once a Memcached names one.
type secretWatch struct {
	controller controller.Controller
	cache      cache.Cache
	reader     client.Reader
	memory     *secrets.Memory

	mu      sync.Mutex
	started bool
}

// startFor starts the watch if the Memcached needs it, and follows the Secrets that the Memcached names.
func (w *secretWatch) startFor(mc *cachev1.Memcached) error {
	w.memory.Follow(mc)
	if len(secrets.NamesOf(mc)) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return nil
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := w.controller.Watch(source.Kind(w.cache, metadata, w.handler()))
	if err != nil {
		return fmt.Errorf("watch Secrets: %w", err)
	}
	w.started = true
	return nil
}

type (
	secretMetadata = metav1.PartialObjectMetadata
	queue          = workqueue.TypedRateLimitingInterface[reconcile.Request]
)

// handler returns a handler that records each version of a Secret. A deletion is recorded as the last version.
func (w *secretWatch) handler() handler.TypedEventHandler[*secretMetadata, reconcile.Request] {
	return handler.TypedFuncs[*secretMetadata, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*secretMetadata], q queue) {
			w.changed(ctx, e.Object, e.Object.ResourceVersion, q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*secretMetadata], q queue) {
			w.changed(ctx, e.ObjectNew, e.ObjectNew.ResourceVersion, q)
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*secretMetadata], q queue) {
			w.changed(ctx, e.Object, "", q)
		},
	}
}

// changed enqueues the Memcacheds that name a Secret.
func (w *secretWatch) changed(ctx context.Context, secret *secretMetadata, version string, q queue) {
	if !w.memory.Changed(client.ObjectKeyFromObject(secret), version) {
		return
	}
	named := client.MatchingFields{secretIndex: secret.Name}
	for _, request := range memcacheds(ctx, w.reader, client.InNamespace(secret.Namespace), named) {
		q.Add(request)
	}
}
