package observe

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// portsByName are the names of the declared container ports.
var portsByName = map[string]names.Ports{
	names.Port: names.PlaintextPort, names.TLSPort: names.EncryptedPort, names.MetricsPort: names.AgentMetricsPort,
}

// portsOf returns the ports that the containers of a Pod declare: those that other Pods can reach.
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

// servicePorts returns the ports of a Service.
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

// declared are containers that declare each set of ports. Trimmed Pods share them, to save memory.
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
