package names

// Ports is a set of ports that a Pod serves.
type Ports uint8

const (
	// PlaintextPort is memcached without TLS.
	PlaintextPort Ports = 1 << iota

	// EncryptedPort is memcached with TLS.
	EncryptedPort

	// AgentMetricsPort is the agent's metrics.
	AgentMetricsPort

	// DiscoveryPorts are the ports on which the agent answers clients with auto discovery.
	DiscoveryPorts

	// AllPorts are all of these.
	AllPorts Ports = 1<<iota - 1
)

// Has reports whether all given ports are in the set.
func (p Ports) Has(ports Ports) bool { return p&ports == ports }
