package observe

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// portsByName are the names under which containers declare their ports.
var portsByName = map[string]names.Ports{
	names.Port: names.PlaintextPort, names.TLSPort: names.EncryptedPort, names.MetricsPort: names.AgentMetricsPort,
}

// portsOf returns the ports that the containers of a Pod declare. memcached declares those that other Pods can reach.
func portsOf(pod *corev1.PodSpec) names.Ports {
	var ports names.Ports
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				ports |= portsByName[port.Name]
			}
		}
	}
	return ports
}

// servicePorts are those of a Service.
func servicePorts(object client.Object) names.Ports {
	service, ok := object.(*corev1.Service)
	if !ok {
		return 0
	}
	var ports names.Ports
	for _, port := range service.Spec.Ports {
		ports |= portsByName[port.Name]
	}
	return ports
}

// declared are containers that declare a set of ports each. Trimmed Pods share them: they take no memory of their own.
var declared = func() [names.AllPorts + 1][]corev1.Container {
	var containers [names.AllPorts + 1][]corev1.Container
	for set := range containers {
		for name, port := range portsByName {
			if names.Ports(set).Has(port) {
				containers[set] = append(containers[set], corev1.Container{Ports: []corev1.ContainerPort{{Name: name}}})
			}
		}
	}
	return containers
}()
