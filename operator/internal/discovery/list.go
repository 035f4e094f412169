// Package discovery answers clients with auto discovery, which request the memcached servers of a cache. The operator
// decides which Pods answer, and writes the list of servers into their annotation cache.example.com/discovery. The
// agent in such a Pod reads the list from a downward API volume, and answers with it.
//
// The package is pure. The operator and the agent share it, and their versions may differ. So unknown fields of the
// list are ignored, and a field never changes its type or meaning.
package discovery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// List is the content of the annotation.
type List struct {
	// Version grows with each change to Nodes. A client ignores a list whose version is lower than that of the list that
	// it has.
	Version int64 `json:"version"`

	// Endpoint is the address of the cache for clients without auto discovery, for error messages.
	Endpoint string `json:"endpoint"`

	// Nodes are the memcached servers.
	Nodes []Node `json:"nodes"`
}

// Node is a memcached server.
type Node struct {
	// Host is the name of the slot, or the address of the Pod.
	Host string `json:"host"`

	// IP is the address; empty if a client has to resolve the name.
	IP string `json:"ip,omitempty"`

	Port int32 `json:"port"`
}

// Encode returns the JSON for the annotation.
func (l List) Encode() string {
	content, err := json.Marshal(l)
	if err != nil {
		panic(err) // The list consists of texts and numbers, which can be encoded.
	}
	return string(content)
}

// newestVersion is the largest version that a list can have. Decode accepts only smaller versions, so that a later list
// can have a larger one. Clients in JavaScript can distinguish newestVersion from the number before it.
const newestVersion = 1 << 53

// Decode reads the annotation. It refuses a version that cannot grow, because a client that reads it would ignore all
// later lists.
func Decode(content string) (List, error) {
	var l List
	if err := json.Unmarshal([]byte(content), &l); err != nil {
		return List{}, fmt.Errorf("the list of servers is not valid JSON: %w", err)
	}
	if l.Version < 0 || l.Version >= newestVersion {
		return List{}, fmt.Errorf("the list of servers has the version %d, want one from 0 to %d", l.Version, newestVersion-1)
	}
	for _, node := range l.Nodes {
		if node.Host == "" || strings.ContainsAny(node.Host+node.IP, " |\r\n") {
			return List{}, fmt.Errorf("the list of servers has the host %q with the IP %q", node.Host, node.IP)
		}
	}
	return l, nil
}

// Payload returns the list in the form that clients parse: the version in a line, and the servers in the next line. The
// format is that of Amazon ElastiCache
// (https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/AutoDiscovery.AddingToYourClientLibrary.html).
func (l List) Payload() string {
	nodes := make([]string, len(l.Nodes))
	for i, node := range l.Nodes {
		nodes[i] = fmt.Sprintf("%s|%s|%d", node.Host, node.IP, node.Port)
	}
	return fmt.Sprintf("%d\n%s\n", l.Version, strings.Join(nodes, " "))
}

// isFor reports whether a list has the given content, whatever its version is.
func (l List) isFor(endpoint string, nodes []Node) bool {
	return l.Endpoint == endpoint && slices.Equal(l.Nodes, nodes)
}
