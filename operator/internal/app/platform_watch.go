package app

// Watches whether OpenShift's APIs are installed or removed while the operator runs.

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Without this right, the operator keeps the platform that it found at the start.
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,resourceNames=v1.security.openshift.io,verbs=list;watch

// openShiftAPI is the object that exists while the API server serves openShiftGroup.
const openShiftAPI = "v1." + openShiftGroup

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// platformWatch detects a change to the platform while the operator runs: OpenShift's APIs may be installed after the
// operator was started.
type platformWatch struct {
	config   *rest.Config
	platform *platform

	// changed requests a reconciliation of all caches.
	changed chan event.GenericEvent
}

// Start watches the metadata of openShiftAPI until the context ends.
func (w platformWatch) Start(ctx context.Context) error {
	client, err := metadata.NewForConfig(w.config)
	if err != nil {
		return fmt.Errorf("set up the watch of %s: %w", openShiftAPI, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	informer := metadatainformer.NewFilteredMetadataInformer(client, apiServices, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, openShiftAPI).String()
		}).Informer()
	err = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		log := ctrl.Log.WithName("platform")
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			log.Info("OpenShift's APIs cannot be watched: the operator keeps the platform that it found at the start, "+
				"until it restarts",
				"missing", "list and watch apiservices.apiregistration.k8s.io", "error", err.Error())
			stop()
			return
		}
		log.V(1).Info("Restarting the watch of OpenShift's APIs", "error", err.Error())
	})
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.found(plan.OpenShift) },
		DeleteFunc: func(any) { w.found(plan.Kubernetes) },
	})
	if err != nil {
		return err
	}
	informer.RunWithContext(ctx)
	return nil
}

func (w platformWatch) found(found plan.Platform) {
	if !w.platform.becomes(found) {
		return
	}
	ctrl.Log.WithName("platform").Info("The platform changed", "platform", found)
	select {
	case w.changed <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default: // An event is queued already.
	}
}
