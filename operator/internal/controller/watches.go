package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// Name is the controller's, in logs, metrics and events.
const Name = "memcached"

// Setup adds the controller to a manager. Nodes are looked at through the reader of machines, unless it is nil.
func Setup(
	mgr ctrl.Manager, defaults Defaults, machineReader client.Reader, legacyFieldManagers []string,
	options controller.Options,
) error {
	reconciler := &Reconciler{
		client:   mgr.GetClient(),
		live:     mgr.GetAPIReader(),
		syncer:   apply.NewSyncer(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetScheme(), legacyFieldManagers),
		defaults: defaults,
		events:   mgr.GetEventRecorder(names.FieldOwner),
		machines: newMachines(machineReader),
		statuses: newStatuses(),
	}
	build := ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		For(&cachev1.Memcached{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(memcachedOfPod),
			builder.WithPredicates(nodesChange)).
		WithOptions(options)
	for _, kind := range observe.Kinds() {
		build.Owns(kind.New())
	}
	return build.Complete(reconcile.AsReconciler(mgr.GetClient(), reconciler))
}

// memcachedOfPod finds the Memcached by the label that the Deployment's selector needs anyway.
func memcachedOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{
		Namespace: pod.GetNamespace(), Name: pod.GetLabels()[names.LabelInstance],
	}}}
}

// nodesChange passes, of a Pod's many updates, those that change what is known of the node.
var nodesChange = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)
		return observe.NodeChanged(before, after)
	},
}
