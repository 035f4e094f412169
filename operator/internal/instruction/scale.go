package instruction

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Scale is a change to the number of servers in clients' lists. The zero value is none. It has only comparable fields,
// like Instruction.
type Scale struct {
	// Hash is how clients choose the server of a key: an Algorithm of the package clienthash.
	Hash string `json:"hash"`

	// Names are the servers as clients name them, with # for the number of the slot: shop-#.shop-slots.team.svc:11211.
	Names string `json:"names"`

	// Before and After are the numbers of servers. They differ by one.
	Before int `json:"before"`
	After  int `json:"after"`

	// Servers are the IP addresses of the Pods in the order of their slots, separated by blanks: as many as the shorter
	// list of servers has. The Pod with the instruction is the last server of the longer list.
	Servers string `json:"servers"`
}

// Addresses returns Servers as a list.
func (s Scale) Addresses() []string { return strings.Fields(s.Servers) }

// ServerNames returns the names of the servers of the longer list.
func (s Scale) ServerNames() []string {
	var names []string
	for number := range max(s.Before, s.After) {
		names = append(names, strings.ReplaceAll(s.Names, "#", strconv.Itoa(number)))
	}
	return names
}

// maxServers keeps a wrong instruction from making the agent use much memory.
const maxServers = 10_000

func (s Scale) validate() error {
	if s == (Scale{}) {
		return nil
	}
	shorter := min(s.Before, s.After)
	switch {
	case shorter < 1 || shorter > maxServers || max(s.Before, s.After) != shorter+1:
		return fmt.Errorf("scale: from %d to %d servers is not one more or less", s.Before, s.After)
	case len(s.Addresses()) != shorter:
		return fmt.Errorf("scale: %d addresses are not those of %d servers", len(s.Addresses()), shorter)
	}
	for _, address := range s.Addresses() {
		if _, err := netip.ParseAddr(address); err != nil {
			return fmt.Errorf("scale: %q is no IP address", address)
		}
	}
	return nil
}
