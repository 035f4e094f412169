package names

// Ports is a set of ports that a Pod serves.
type Ports uint8

const (
	// PlaintextPort is the port of memcached without TLS.
	PlaintextPort Ports = 1 << iota

	// EncryptedPort is the port of memcached with TLS.
	EncryptedPort

	// AgentMetricsPort is the port on which the agent serves metrics.
	AgentMetricsPort

	// DiscoveryPorts are the ports on which the agent answers clients with auto discovery.
	DiscoveryPorts

	// AllPorts are all ports above.
	AllPorts Ports = 1<<iota - 1
)

// Has reports whether all given ports are in the set.
func (p Ports) Has(ports Ports) bool { return p&ports == ports }
