package status

// The architectures that no Node of the cluster has.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NoNodeFits reports whether the cluster is known to have no Node of any architecture that the Pods may run on.
func NoNodeFits(in Input) bool {
	if in.Nodes == nil || len(in.Plan.Architectures) == 0 {
		return false
	}
	return !slices.ContainsFunc(in.Plan.Architectures, func(architecture string) bool {
		return in.Nodes[architecture] > 0
	})
}

// missingArchitectures names the missing architectures, and the available ones.
func missingArchitectures(in Input) string {
	what := "the architecture "
	if len(in.Plan.Architectures) > 1 {
		what = "one of the architectures "
	}
	return "no Node has " + what + strings.Join(in.Plan.Architectures, ", ") + "; " + availableNodes(in)
}

func availableNodes(in Input) string {
	if len(in.Nodes) == 0 {
		return "the cluster has no Nodes"
	}
	var counted []string
	for _, node := range slices.Sorted(maps.Keys(in.Nodes)) {
		counted = append(counted, fmt.Sprintf("%s (%d)", node, in.Nodes[node]))
	}
	return "available: " + strings.Join(counted, ", ")
}
