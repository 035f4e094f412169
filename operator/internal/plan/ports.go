package plan

// Which client ports stay open while Pods are replaced, and which address status.endpoint has.

import (
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Port is a client port.
type Port struct {
	Name   string
	Number int32
}

var (
	plaintextPort = Port{Name: names.Port, Number: names.PortNumber}
	encryptedPort = Port{Name: names.TLSPort, Number: names.TLSPortNumber}
)

// inPods returns the port as a set of Pod ports.
func (port Port) inPods() names.Ports {
	if port == encryptedPort {
		return names.EncryptedPort
	}
	return names.PlaintextPort
}

// ClientPorts returns the client ports of a Pod, the port of the endpoint first.
func (p Pod) ClientPorts() []Port {
	switch secured := p.Memcached.TLS; {
	case secured == nil:
		return []Port{plaintextPort}
	case secured.Plaintext:
		return []Port{encryptedPort, plaintextPort}
	}
	return []Port{encryptedPort}
}

// PodPorts returns the client ports as a set; none while the Pod template is kept.
func (p Plan) PodPorts() names.Ports {
	var ports names.Ports
	if p.Template == RenderTemplate {
		for _, port := range p.ClientPorts() {
			ports |= port.inPods()
		}
	}
	return ports
}

// servicePorts keeps ports open while Pods that listen on them are being replaced, because a rollout takes time, and
// may not complete.
func (d Draft) servicePorts() []Port {
	open := d.current.OpenPorts
	if d.current.Deployment != nil && rollsOut(d.current.Deployment) {
		open |= d.current.ServicePorts // A Pod of the former template may still be starting.
	}
	ports := d.Pod.ClientPorts()
	for _, port := range []Port{plaintextPort, encryptedPort} {
		if open.Has(port.inPods()) && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}

// servesMetrics reports whether the agent of an existing or a planned Pod serves metrics.
func (d Draft) servesMetrics() bool {
	return d.Pod.Agent != nil && d.Pod.Agent.Metrics || d.current.OpenPorts.Has(names.AgentMetricsPort)
}

// endpoint returns the address for clients. It changes to another port only when every Pod listens on that port. If
// there are Pods, at least one of them listens on the endpoint, even while the Memcached is suspended.
func (d Draft) endpoint(servicePorts []Port) string {
	planned, before, pods := d.Pod.ClientPorts()[0], d.memcached.Status.Endpoint, d.current.Pods
	listening := func(port Port) (count int) {
		for _, ports := range pods {
			if ports.Has(port.inPods()) {
				count++
			}
		}
		return count
	}
	switch {
	case len(pods) == 0 && d.memcached.Spec.Suspend && before != "":
		return before // The next Pod has the Deployment's current template.
	case listening(planned) == len(pods):
		return d.endpointOn(planned)
	}
	for _, port := range servicePorts {
		if before == d.endpointOn(port) && listening(port) > 0 {
			return before
		}
	}
	for _, port := range servicePorts {
		if listening(port) > 0 {
			return d.endpointOn(port)
		}
	}
	return d.endpointOn(planned)
}

func (d Draft) endpointOn(port Port) string {
	return fmt.Sprintf("%s.%s.svc:%d", d.memcached.Name, d.memcached.Namespace, port.Number)
}
