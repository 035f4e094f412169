package plan

// Which ports stay open while Pods are replaced, and the endpoint.

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

// ClientPorts returns the client ports of the planned Pods, that of the endpoint first.
func (p Plan) ClientPorts() []Port {
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

// setPorts keeps ports open while Pods that listen on them are being replaced: a rollout takes time, and may not
// complete.
func (p *Plan) setPorts(current Current) {
	open := current.OpenPorts
	if current.Deployment != nil && rollsOut(current.Deployment) {
		open |= current.ServicePorts // A Pod of the former template may just be starting.
	}
	p.ServicePorts = p.ClientPorts()
	for _, port := range []Port{plaintextPort, encryptedPort} {
		if open.Has(port.inPods()) && !slices.Contains(p.ServicePorts, port) {
			p.ServicePorts = append(p.ServicePorts, port)
		}
	}
	p.AgentMetrics = p.Agent != nil && p.Agent.Metrics || current.OpenPorts.Has(names.AgentMetricsPort)
}

// endpoint switches to another port last: when every Pod listens on it. If there are Pods, at least one of them
// listens on the endpoint, even while the Memcached is suspended.
func (p Plan) endpoint(before string, pods []names.Ports) string {
	planned := p.ClientPorts()[0]
	listening := func(port Port) (count int) {
		for _, ports := range pods {
			if ports.Has(port.inPods()) {
				count++
			}
		}
		return count
	}
	switch {
	case len(pods) == 0 && p.Suspended && before != "":
		return before // The next Pod has the Deployment's current template.
	case listening(planned) == len(pods):
		return p.endpointOn(planned)
	}
	for _, port := range p.ServicePorts {
		if before == p.endpointOn(port) && listening(port) > 0 {
			return before
		}
	}
	for _, port := range p.ServicePorts {
		if listening(port) > 0 {
			return p.endpointOn(port)
		}
	}
	return p.endpointOn(planned)
}

func (p Plan) endpointOn(port Port) string {
	return fmt.Sprintf("%s.%s.svc:%d", p.Name, p.Namespace, port.Number)
}
