package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LacksMachines tells whether the cluster is known to have no machine of any architecture that the nodes may run on.
func LacksMachines(in Input) bool {
	if in.Machines == nil || len(in.Plan.Architectures) == 0 {
		return false
	}
	return !slices.ContainsFunc(in.Plan.Architectures, func(architecture string) bool {
		return in.Machines[architecture] > 0
	})
}

// lack says which architectures are missing, and what there is instead.
func lack(in Input) string {
	what := "the architecture "
	if len(in.Plan.Architectures) > 1 {
		what = "one of the architectures "
	}
	return "no machine has " + what + strings.Join(in.Plan.Architectures, ", ") + "; " + thereAre(in)
}

func thereAre(in Input) string {
	if len(in.Machines) == 0 {
		return "there is no machine"
	}
	var counted []string
	for _, machine := range slices.Sorted(maps.Keys(in.Machines)) {
		counted = append(counted, fmt.Sprintf("%s (%d)", machine, in.Machines[machine]))
	}
	return "there are " + strings.Join(counted, ", ")
}
