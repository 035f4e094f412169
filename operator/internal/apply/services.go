package apply

import (
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// nameOwnService leaves out of an EndpointSlice the name of a Service that is not the Memcached's. Otherwise, clients
// of that Service would be sent to Pods of this cache.
func nameOwnService(mc *cachev1.Memcached, snapshot observe.Snapshot, report Report, object render.Object) {
	name, ok := object.Metadata.Labels[discoveryv1.LabelServiceName]
	if !ok {
		return
	}
	service := observe.Key{GroupKind: observe.ServiceKind.GroupKind(), Name: name}
	live := snapshot.Objects[service]
	made := slices.ContainsFunc(report, func(o Outcome) bool {
		return o.GroupKind == service.GroupKind && o.Name == name && o.IsMade()
	})
	if !made && (live == nil || !metav1.IsControlledBy(live, mc)) {
		delete(object.Metadata.Labels, discoveryv1.LabelServiceName)
	}
}
