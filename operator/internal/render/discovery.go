package render

// The Service of the discovery, and everything that the agent needs to answer clients.

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// discoveryService returns a Service with a cluster IP, because all Pods that it selects give the same answer. It has
// the same ports as the cache.
func discoveryService(p plan.Plan) Object {
	spec := corev1ac.ServiceSpec().
		WithSelector(names.Selector(p.Name)).
		WithSelector(map[string]string{names.LabelDiscovery: "true"})
	for _, port := range p.ClientPorts() {
		spec.WithPorts(corev1ac.ServicePort().
			WithName(port.Name).
			WithPort(port.Number).
			WithTargetPort(intstr.FromString(discoveryPort(port).Name)).
			WithProtocol(corev1.ProtocolTCP))
	}
	return serviceObject(p, names.DiscoveryService(p.Name), spec)
}

// discoveryPort returns the port of the agent that belongs to a port of memcached.
func discoveryPort(port plan.Port) plan.Port {
	if port.Name == names.TLSPort {
		return plan.Port{Name: names.DiscoveryTLSPort, Number: names.DiscoveryTLSPortNumber}
	}
	return plan.Port{Name: names.DiscoveryPort, Number: names.DiscoveryPortNumber}
}

// discoveryPorts are the ports of discovery in a NetworkPolicy: all ports that Pods may have before and after a
// rollout.
var discoveryPorts = []plan.Port{
	{Name: names.DiscoveryPort, Number: names.DiscoveryPortNumber},
	{Name: names.DiscoveryTLSPort, Number: names.DiscoveryTLSPortNumber},
}

// answerDiscovery makes the agent answer clients with auto discovery, and mounts the list of servers for it.
func answerDiscovery(
	spec *corev1ac.PodSpecApplyConfiguration, agent *corev1ac.ContainerApplyConfiguration, p plan.Pod,
) {
	for _, served := range p.ClientPorts() {
		port := discoveryPort(served)
		agent.WithPorts(corev1ac.ContainerPort().
			WithName(port.Name).WithContainerPort(port.Number).WithProtocol(corev1.ProtocolTCP))
	}
	agent.WithVolumeMounts(readOnly(discoveryVolume, names.DiscoveryDir))
	spec.WithVolumes(annotationVolume(discoveryVolume, "list", names.AnnotationDiscovery))
}

func discoveryArguments(p plan.Pod) []string {
	arguments := []string{"--discovery-file=" + names.DiscoveryFile}
	secured := p.Memcached.TLS
	if secured == nil {
		return arguments
	}
	if !secured.Plaintext {
		arguments = append(arguments, "--discovery-bind-address=0")
	}
	if secured.ClientCA != "" && secured.Require {
		arguments = append(arguments, "--discovery-require-client-certificate")
	}
	if secured.Only13 {
		arguments = append(arguments, "--discovery-tls13")
	}
	return arguments
}

// annotationVolume mounts an annotation of the Pod as a file. The kubelet updates the file within a second or two.
func annotationVolume(volume, file, annotation string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(volume).
		WithDownwardAPI(corev1ac.DownwardAPIVolumeSource().
			WithItems(corev1ac.DownwardAPIVolumeFile().
				WithPath(file).
				WithFieldRef(corev1ac.ObjectFieldSelector().
					WithAPIVersion("v1"). // The API server's default.
					WithFieldPath("metadata.annotations['" + annotation + "']"))))
}
