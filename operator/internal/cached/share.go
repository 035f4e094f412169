package cached

// Stores equal parts of cached objects once. They can be shared because cached objects are not modified.

import (
	"hash/maphash"
	"maps"
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shareMetadata stores the names, labels, annotations and owners of an object once. Most are the same in all objects of
// a Memcached.
func shareMetadata(metadata *metav1.ObjectMeta) {
	metadata.Name, metadata.Namespace = text(metadata.Name), text(metadata.Namespace)
	metadata.Labels, metadata.Annotations = labels.share(metadata.Labels), labels.share(metadata.Annotations)
	for i := range metadata.OwnerReferences {
		owner := &metadata.OwnerReferences[i]
		owner.APIVersion, owner.Kind, owner.Name = text(owner.APIVersion), text(owner.Kind), text(owner.Name)
		owner.UID = types.UID(text(string(owner.UID)))
	}
}

func shareSelector(selector *metav1.LabelSelector) {
	if selector != nil {
		selector.MatchLabels = labels.share(selector.MatchLabels)
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

// text returns the same text for equal texts, as long as anything uses it.
func text(value string) string { return unique.Make(value).Value() }

func sharePodSpec(spec *corev1.PodSpec) {
	spec.InitContainers, spec.Containers = shareContainers(spec.InitContainers), shareContainers(spec.Containers)
	if spec.Affinity != nil {
		spec.Affinity = affinities.share(spec.Affinity, spec.Affinity)
	}
}

func shareContainers(list []corev1.Container) []corev1.Container {
	for i := range list {
		found := &list[i].Resources
		*found = resources.share(found, *found)
	}
	return containers.share(&corev1.PodSpec{Containers: list}, list)
}

// The pools of what is shared. Few clusters have more different containers. The labels and selectors of a Memcached's
// objects are equal, and the API server sends the objects of all kinds in the same order when the operator starts.
var (
	containers = pool[[]corev1.Container]{most: 64, longest: 64 << 10}
	resources  = pool[corev1.ResourceRequirements]{most: 64, longest: 1 << 10}
	affinities = pool[*corev1.Affinity]{most: 64, longest: 16 << 10}
	labels     = mapPool{most: 8192, longest: 1 << 10, seed: maphash.MakeSeed()}
)

// pool has values by their content, which is encoded.
type pool[T any] struct {
	// most is the number of values. With the next one the pool starts again: values that are cached by then are not
	// shared any more.
	most int
	// longest is the length of a content in bytes. Longer ones are not shared.
	longest int

	mu     sync.Mutex
	values map[string]T
}

// share returns the same value for the same content.
func (p *pool[T]) share(content interface{ Marshal() ([]byte, error) }, value T) T {
	key, err := content.Marshal()
	if err != nil || len(key) > p.longest {
		return value
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if shared, found := p.values[string(key)]; found {
		return shared
	}
	if p.values == nil || len(p.values) == p.most {
		p.values = map[string]T{}
	}
	p.values[string(key)] = value
	return value
}

// mapPool has maps by the hash of their content. Of maps with the same hash, only the last one is shared.
type mapPool struct {
	most, longest int // as for a pool
	seed          maphash.Seed

	mu   sync.Mutex
	maps map[uint64]map[string]string
}

// share returns the same map for the same content, and the same texts in maps that differ.
func (p *mapPool) share(texts map[string]string) map[string]string {
	hash, length := p.hash(texts)
	if texts == nil || length > p.longest {
		return texts
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if shared, found := p.maps[hash]; found && maps.Equal(shared, texts) {
		return shared
	}
	if p.maps == nil || len(p.maps) >= p.most {
		p.maps = map[uint64]map[string]string{}
	}
	shared := make(map[string]string, len(texts)) // A new one, because a map keeps the text of a key that it has.
	for key, value := range texts {
		shared[text(key)] = text(value)
	}
	p.maps[hash] = shared
	return shared
}

// hash returns a hash that does not depend on the order, which is random, and the length of all texts in bytes.
func (p *mapPool) hash(texts map[string]string) (sum uint64, length int) {
	for key, value := range texts {
		sum += maphash.Comparable(p.seed, [2]string{key, value})
		length += len(key) + len(value)
	}
	return sum, length
}
