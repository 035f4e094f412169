package plan

import (
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Port is a port that clients use.
type Port struct {
	Name   string
	Number int32
}

var (
	plaintextPort = Port{Name: names.Port, Number: names.PortNumber}
	encryptedPort = Port{Name: names.TLSPort, Number: names.TLSPortNumber}
)

// inPods is the port in the sets of ports that Pods have.
func (port Port) inPods() names.Ports {
	if port == encryptedPort {
		return names.EncryptedPort
	}
	return names.PlaintextPort
}

// ClientPorts are the ports of the planned Pods that clients can reach, the one of the endpoint first.
func (p Plan) ClientPorts() []Port {
	switch secured := p.Memcached.TLS; {
	case secured == nil:
		return []Port{plaintextPort}
	case secured.Plaintext:
		return []Port{encryptedPort, plaintextPort}
	}
	return []Port{encryptedPort}
}

// PodPorts are the client ports as a set; none while the Pod template stays as it is.
func (p Plan) PodPorts() names.Ports {
	var ports names.Ports
	if p.Template == RenderTemplate {
		for _, port := range p.ClientPorts() {
			ports |= port.inPods()
		}
	}
	return ports
}

// setPorts keeps the ports open on which Pods still listen that the plan replaces: a rollout takes its time, and may
// get stuck.
func (p *Plan) setPorts(current Current) {
	open := current.OpenPorts
	if current.Deployment != nil && rollsOut(current.Deployment) {
		open |= current.ServicePorts // A Pod of the former template may be on its way.
	}
	p.ServicePorts = p.ClientPorts()
	for _, port := range []Port{plaintextPort, encryptedPort} {
		if open.Has(port.inPods()) && !slices.Contains(p.ServicePorts, port) {
			p.ServicePorts = append(p.ServicePorts, port)
		}
	}
	p.AgentMetrics = p.Agent != nil && p.Agent.Metrics || current.OpenPorts.Has(names.AgentMetricsPort)
}

// endpoint moves to another port last: when no Pod is left that does not listen on it. It is always one that a Pod
// listens on, if there are Pods, also where they are replaced while nothing may be written.
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
		return before // The next Pod is of the Deployment as it is.
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
