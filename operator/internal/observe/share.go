package observe

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TrimObject drops what nobody reads of a child before it is cached, and lets Deployments share what most have in
// common: the amounts of two containers are more than a quarter of what a Deployment takes. Of managed fields, the hold
// of a Deployment stays.
func TrimObject(object any) (any, error) {
	var managed []metav1.ManagedFieldsEntry
	switch child := object.(type) {
	case *appsv1.Deployment:
		managed = onlyPause(child.ManagedFields)
		shareResources(child.Spec.Template.Spec.InitContainers)
		shareResources(child.Spec.Template.Spec.Containers)
	case *policyv1.PodDisruptionBudget:
		child.Status = policyv1.PodDisruptionBudgetStatus{}
	}
	if metadata, err := meta.Accessor(object); err == nil { // Else it tells that an object is gone.
		metadata.SetManagedFields(managed)
	}
	return object, nil
}

func shareResources(containers []corev1.Container) {
	for i := range containers {
		resources := &containers[i].Resources
		resources.Requests, resources.Limits = amounts.share(resources.Requests), amounts.share(resources.Limits)
	}
}

// amounts are those of all containers. Nobody changes what lies in the cache.
var amounts sharedLists

// mostShared is how many different ones are shared. Few clusters have as many; what is beyond is held by each.
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

// same compares amounts, and how they are written.
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
