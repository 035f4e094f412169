package observe

// The ports that a Service has.

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// servicePorts returns the ports of a Service.
func servicePorts(object client.Object) names.Ports {
	service, ok := object.(*corev1.Service)
	if !ok {
		return 0
	}
	var ports names.Ports
	for _, port := range service.Spec.Ports {
		ports |= cached.PortsByName[port.Name]
	}
	return ports
}
