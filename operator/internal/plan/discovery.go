package plan

// The servers that are announced to clients with auto discovery.

import (
	"fmt"
	"strconv"
	"strings"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Discovery announces the memcached servers to clients.
type Discovery struct {
	// Endpoint is the name and port for clients with auto discovery.
	Endpoint string

	discovery.Decision
}

// decideDiscovery decides which Pods answer clients with auto discovery, and with which list of servers; it returns nil
// without discovery.
func (d Draft) decideDiscovery(endpoint string, slots *Slots) *Discovery {
	if d.memcached.Spec.Discovery == nil {
		return nil
	}
	_, number, _ := strings.Cut(endpoint, ":")
	port, _ := strconv.ParseInt(number, 10, 32) // The endpoint always has a port.
	in := discovery.Input{
		Endpoint: endpoint, Port: int32(port), Pods: d.current.Discovery, HasSlots: slots != nil, Now: d.defaults.Now,
	}
	if slots != nil {
		in.Slots = slots.nodes(d.current.SlotAddresses, int32(port))
	}
	return &Discovery{
		Endpoint: fmt.Sprintf("%s.%s.svc:%d", names.DiscoveryService(d.memcached.Name), d.memcached.Namespace, port),
		Decision: discovery.Decide(in),
	}
}

// nodes returns the slots as servers. A client resolves the name of a slot, unless the slot has a cluster IP.
func (s *Slots) nodes(addresses map[string]string, port int32) []discovery.Slot {
	var nodes []discovery.Slot
	for _, slot := range s.Slots {
		host, _, _ := strings.Cut(slot.Address, ":")
		node := discovery.Slot{Node: discovery.Node{Host: host, Port: port}, Pod: slot.Pod}
		if s.Services {
			node.IP = addresses[slot.Name]
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// discoveryProblems finds the reasons why a cache can't have the discovery that its spec requests.
func discoveryProblems(mc *cachev1.Memcached, defaults Defaults) []string {
	if mc.Spec.Discovery == nil {
		return nil
	}
	var problems []string
	if missing := defaults.MissingDiscoveryRights; len(missing) > 0 {
		problems = append(problems, missingRights("discovery", missing, withoutSlots))
	}
	if name := names.DiscoveryService(mc.Name); len(name) > longestName {
		problems = append(problems, longName("discovery", name, mc.Name))
	}
	return problems
}
