package change

// What a change to the memory does to Pods that are resized.

import (
	"cmp"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// grows returns 1 if running Pods get more memory, -1 if they get less, and 0 if their memory stays as it is, or if
// they are replaced.
func grows(in Input) int {
	spec := in.After.Spec
	if in.Before == nil || spec.Suspend || !plan.Resizes(spec) {
		return 0
	}
	return cmp.Compare(plan.ItemMemory(spec), plan.ItemMemory(in.Before.Spec))
}

// memoryNote says what happens to Pods that are resized.
func memoryNote(in Input) string {
	switch grows(in) {
	case 1:
		return "The Pods, and memcached in them, get more memory without a restart"
	case -1:
		return "Memcached releases memory without a restart, and loses the coldest keys, which do not fit any more"
	}
	return ""
}
