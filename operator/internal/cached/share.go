package cached

// Stores equal parts of cached objects once. They can be shared because cached objects are not modified.

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shareMetadata stores the names, labels, annotations and owners of an object once. Most are the same in all objects of
// a Memcached.
func shareMetadata(metadata *metav1.ObjectMeta) {
	metadata.Name, metadata.Namespace = text(metadata.Name), text(metadata.Namespace)
	metadata.Labels, metadata.Annotations = shareMap(metadata.Labels), shareMap(metadata.Annotations)
	for i := range metadata.OwnerReferences {
		owner := &metadata.OwnerReferences[i]
		owner.APIVersion, owner.Kind, owner.Name = text(owner.APIVersion), text(owner.Kind), text(owner.Name)
		owner.UID = types.UID(text(string(owner.UID)))
	}
}

func shareSelector(selector *metav1.LabelSelector) {
	if selector != nil {
		selector.MatchLabels = shareMap(selector.MatchLabels)
	}
}

// shareConditions stores the texts of conditions once, but not their messages, which seldom are the same.
func shareConditions(conditions []metav1.Condition) {
	for i := range conditions {
		condition := &conditions[i]
		condition.Type, condition.Reason = text(condition.Type), text(condition.Reason)
		condition.Status = metav1.ConditionStatus(text(string(condition.Status)))
	}
}

func sharePodSpec(spec *corev1.PodSpec) {
	spec.InitContainers, spec.Containers = shareContainers(spec.InitContainers), shareContainers(spec.Containers)
	if spec.Affinity != nil {
		spec.Affinity = shareEncoded(&affinities, spec.Affinity, func() *corev1.Affinity { return spec.Affinity })
	}
}

// shareContainers returns the same list for the same content. It does not write into the list, which may be shared
// already: informers trim some objects twice.
func shareContainers(list []corev1.Container) []corev1.Container {
	return shareEncoded(&containers, &corev1.PodSpec{Containers: list}, func() []corev1.Container {
		list := slices.Clone(list)
		for i := range list {
			amounts := &list[i].Resources
			*amounts = shareEncoded(&resources, amounts, func() corev1.ResourceRequirements { return *amounts })
		}
		return list
	})
}

// shareEncoded returns the same value for the same content, which is encoded to compare it.
func shareEncoded[V any](p *pool[string, V], content interface{ Marshal() ([]byte, error) }, made func() V) V {
	key, err := content.Marshal()
	if err != nil || len(key) > longest {
		return made()
	}
	return p.share(string(key), made)
}

// text returns the same text for equal texts.
func text(value string) string {
	if len(value) > longest {
		return value
	}
	return texts.share(value, func() string { return value })
}

// shareMap returns the same map for the same content. For new content it makes a new map with shared texts, which can't
// be put into the given map: a map keeps the text of a key that it has already. Of different maps with the same hash,
// only the first one is shared. Large maps are not shared, because the pool keeps maps that no object has any more.
func shareMap(values map[string]string) map[string]string {
	hash, size := hashOf(values)
	if values == nil || size > longest/2 {
		return values
	}
	shared := labels.share(hash, func() map[string]string {
		made := make(map[string]string, len(values))
		for key, value := range values {
			made[text(key)] = text(value)
		}
		return made
	})
	if !maps.Equal(shared, values) {
		return values
	}
	return shared
}

var seed = maphash.MakeSeed()

// hashOf returns a hash that does not depend on the random order of a map's entries, and about how many bytes the map
// takes.
func hashOf(values map[string]string) (hash uint64, size int) {
	const slot = 48 // bytes for each entry of a map with a third of its slots free
	for key, value := range values {
		hash += maphash.Comparable(seed, [2]string{key, value})
		size += slot + len(key) + len(value)
	}
	return hash, size
}

// The pools of shared values. Many clusters have only a few distinct containers. The names, labels and selectors of a
// Memcached's objects are equal, and the API server sends the objects of all kinds in the same order when the operator
// starts.
var (
	containers = pool[string, []corev1.Container]{most: 256}
	resources  = pool[string, corev1.ResourceRequirements]{most: 256}
	affinities = pool[string, *corev1.Affinity]{most: 256}
	labels     = pool[uint64, map[string]string]{most: 8192}
	texts      = pool[string, string]{most: 8192}
)

// longest is the length of the longest content that is shared, in bytes. The containers of most Pods have a fourth of
// this length.
const longest = 4 << 10

// pool has values by the keys that identify them. A pool that is full, with as many values as the field most says, is
// emptied before it gets the next value. Objects that are cached later then do not share the values of earlier ones.
type pool[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	values map[K]V
}

// share returns the same value for the same key. It makes the value if the pool does not have it.
func (p *pool[K, V]) share(key K, made func() V) V {
	p.mu.Lock()
	defer p.mu.Unlock()
	if shared, found := p.values[key]; found {
		return shared
	}
	if p.values == nil || len(p.values) >= p.most {
		p.values = map[K]V{}
	}
	value := made()
	p.values[key] = value
	return value
}
