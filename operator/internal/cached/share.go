package cached

// Stores equal parts of cached objects once. They can be shared because cached objects are not modified.

import (
	"reflect"
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shareConditions stores the texts of conditions once, but not their messages, which seldom are the same.
func shareConditions(conditions []metav1.Condition) {
	for i := range conditions {
		condition := &conditions[i]
		condition.Type, condition.Reason = text(condition.Type), text(condition.Reason)
		condition.Status = metav1.ConditionStatus(text(string(condition.Status)))
	}
}

// shareMetadata stores the names, labels, annotations and owners of an object once. Most are the same in all objects of
// a Memcached, and many in all objects.
func shareMetadata(metadata *metav1.ObjectMeta) {
	metadata.Name, metadata.Namespace = text(metadata.Name), text(metadata.Namespace)
	shareTexts(&metadata.Labels)
	shareTexts(&metadata.Annotations)
	shareTexts(&metadata.OwnerReferences)
}

// sharePodSpec stores equal containers once, and equal texts of the rest.
func sharePodSpec(spec *corev1.PodSpec) {
	shareContainers(&spec.InitContainers)
	shareContainers(&spec.Containers)
	shareTexts(&spec.Volumes)
	shareTexts(&spec.Affinity)
}

func shareContainers(list *[]corev1.Container) {
	*list = containers.share(&corev1.PodSpec{Containers: *list}, func() []corev1.Container {
		for i := range *list {
			found := &(*list)[i].Resources
			*found = resources.share(found, func() corev1.ResourceRequirements { return *found })
			shareTexts(&(*list)[i])
		}
		return *list
	})
}

// shareTexts stores the texts that a value points to once, but not those in fields that are not exported.
func shareTexts(value any) { shareTextsOf(reflect.ValueOf(value).Elem()) }

func shareTextsOf(value reflect.Value) {
	switch value.Kind() {
	case reflect.String:
		value.SetString(text(value.String()))
	case reflect.Pointer:
		if !value.IsNil() {
			shareTextsOf(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			shareTextsOf(value.Index(i))
		}
	case reflect.Struct:
		for _, field := range value.Fields() {
			if field.CanSet() {
				shareTextsOf(field)
			}
		}
	case reflect.Map:
		if texts, ok := reflect.TypeAssert[map[string]string](value); ok && texts != nil {
			value.Set(reflect.ValueOf(shareMap(texts)))
		}
	default: // It has no texts.
	}
}

// shareMap returns the same map for the same texts. A new one is made first, because a map keeps the text of a key that
// it has.
func shareMap(texts map[string]string) map[string]string {
	return labels.share(&metav1.ObjectMeta{Labels: texts}, func() map[string]string {
		shared := make(map[string]string, len(texts))
		for key, value := range texts {
			shared[text(key)] = text(value)
		}
		return shared
	})
}

// text returns the same text for equal texts, as long as anything uses it.
func text(value string) string { return unique.Make(value).Value() }

// The pools of what is shared. Few clusters have more different containers. The labels and selectors of a Memcached's
// objects are equal, and the API server sends the objects of all kinds in the same order when the operator starts.
var (
	containers = pool[[]corev1.Container]{most: 64, longest: 64 << 10}
	resources  = pool[corev1.ResourceRequirements]{most: 64, longest: 1 << 10}
	labels     = pool[map[string]string]{most: 8192, longest: 1 << 10}
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

// share returns the same value for the same content. A new value is made first.
func (p *pool[T]) share(content interface{ Marshal() ([]byte, error) }, made func() T) T {
	key, err := content.Marshal()
	if err != nil || len(key) > p.longest {
		return made()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if shared, found := p.values[string(key)]; found {
		return shared
	}
	if p.values == nil || len(p.values) == p.most {
		p.values = map[string]T{}
	}
	value := made()
	p.values[string(key)] = value
	return value
}
