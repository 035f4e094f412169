package cached

// Stores equal amounts of resources once.

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
)

func shareResources(containers []corev1.Container) {
	for i := range containers {
		resources := &containers[i].Resources
		resources.Requests, resources.Limits = amounts.share(resources.Requests), amounts.share(resources.Limits)
	}
}

// amounts has the resource lists of all containers. They can be shared because cached objects are not modified.
var amounts sharedLists

// mostShared limits how many different amounts are shared. Few clusters have more. Additional amounts are not shared.
const mostShared = 64

type sharedLists struct {
	mu    sync.Mutex
	lists []corev1.ResourceList
}

// share returns the same list for the same amounts.
func (s *sharedLists) share(list corev1.ResourceList) corev1.ResourceList {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shared := range s.lists {
		if same(shared, list) {
			return shared
		}
	}
	if len(s.lists) < mostShared {
		s.lists = append(s.lists, list)
	}
	return list
}

// same compares amounts and their spelling.
func same(a, b corev1.ResourceList) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for name, amount := range a {
		other, found := b[name]
		if !found || amount.Format != other.Format || amount.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
