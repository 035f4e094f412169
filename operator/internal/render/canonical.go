package render

// Finds out whether two Pod templates make the same Pods.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// hash returns the hash of a Pod template. Templates that make the same Pods have the same hash: it ignores the order
// of sets, and the spelling of quantities.
func hash(template *corev1ac.PodTemplateSpecApplyConfiguration) string {
	spec := *template.Spec // The rendered template itself does not change.
	sets := encode([]any{
		canonical(spec.Affinity), canonical(spec.Tolerations), canonical(spec.TopologySpreadConstraints),
		canonical(spec.ImagePullSecrets),
	})
	spec.Affinity, spec.Tolerations, spec.TopologySpreadConstraints, spec.ImagePullSecrets = nil, nil, nil, nil
	spec.InitContainers, spec.Containers = normalized(spec.InitContainers), normalized(spec.Containers)
	others := *template
	others.Spec = &spec
	hash := sha256.New()
	hash.Write(sets)
	hash.Write(encode(others))
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// normalized returns the containers with all quantities of their resources spelled alike.
func normalized(containers []corev1ac.ContainerApplyConfiguration) []corev1ac.ContainerApplyConfiguration {
	containers = slices.Clone(containers)
	for i := range containers {
		containers[i].Resources = spelledQuantities(containers[i].Resources)
	}
	return containers
}

// spelledQuantities returns resources in which all quantities are spelled alike.
func spelledQuantities(
	resources *corev1ac.ResourceRequirementsApplyConfiguration,
) *corev1ac.ResourceRequirementsApplyConfiguration {
	if resources == nil {
		return nil
	}
	spelled := *resources
	spelled.Limits, spelled.Requests = spelledList(resources.Limits), spelledList(resources.Requests)
	return &spelled
}

func spelledList(list *corev1.ResourceList) *corev1.ResourceList {
	if list == nil {
		return nil
	}
	spelled := corev1.ResourceList{}
	for name, quantity := range *list {
		spelled[name] = spelledQuantity(quantity)
	}
	return &spelled
}

// spelledQuantity returns a new value, because a quantity keeps the text that it was parsed from.
func spelledQuantity(quantity resource.Quantity) resource.Quantity {
	if whole, ok := quantity.AsInt64(); ok {
		return *resource.NewQuantity(whole, resource.DecimalSI) // The same text, with fewer allocations.
	}
	return *resource.NewDecimalQuantity(*quantity.AsDec(), resource.DecimalSI)
}

// implied are fields of tolerations and constraints with their default values (k8s.io/api/core/v1, Toleration and
// TopologySpreadConstraint).
var implied = map[string]any{
	"operator": "Equal", "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore", "minDomains": int64(1),
}

// canonical normalizes the user's placement: it drops the order and repetitions of sets, empty lists, and fields with
// default values. All lists in a placement are sets.
func canonical(value any) any {
	if reflect.ValueOf(value).IsZero() {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&struct {
		Value any `json:"value"`
	}{value})
	if err != nil {
		panic(err) // It is plain data.
	}
	return simplified(fields["value"])
}

func simplified(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = simplified(value[name])
			if value[name] == nil || value[name] == implied[name] || isEmptyAffinity(name, value[name]) {
				delete(value, name)
			}
		}
	case []any:
		return simplifiedSet(value)
	}
	return value
}

// simplifiedSet returns nil for an empty set. In memory, a set is a sorted list of the JSON of its items.
func simplifiedSet(set []any) any {
	var items []string
	for _, item := range set {
		items = append(items, string(encode(simplified(item))))
	}
	if len(items) == 0 {
		return nil
	}
	slices.Sort(items)
	return slices.Compact(items)
}

// isEmptyAffinity reports whether a field of an affinity has no effect. Elsewhere an empty object may have a meaning:
// an empty label selector selects everything.
func isEmptyAffinity(name string, value any) bool {
	object, ok := value.(map[string]any)
	return ok && len(object) == 0 && slices.Contains([]string{"nodeAffinity", "podAffinity", "podAntiAffinity"}, name)
}

// inOrderOf keeps the placement and the pull Secrets as the existing Deployment spells them, if the meaning is the
// same. The Deployment controller would replace the Pods for another order of a set.
func inOrderOf(
	deployed *appsv1.Deployment, wanted *corev1ac.PodTemplateSpecApplyConfiguration,
) *corev1ac.PodTemplateSpecApplyConfiguration {
	if deployed == nil {
		return wanted
	}
	there := deployed.Spec.Template.Spec
	wanted.Spec.Affinity = inOrder(wanted.Spec.Affinity, there.Affinity)
	wanted.Spec.Tolerations = inOrder(wanted.Spec.Tolerations, there.Tolerations)
	wanted.Spec.TopologySpreadConstraints = inOrder(wanted.Spec.TopologySpreadConstraints, there.TopologySpreadConstraints)
	wanted.Spec.ImagePullSecrets = inOrder(wanted.Spec.ImagePullSecrets, there.ImagePullSecrets)
	return wanted
}

// inOrder returns the desired value as the existing object spells it, if they mean the same.
func inOrder[T any](wanted T, there any) T {
	asked, found := encode(wanted), encode(there)
	if bytes.Equal(asked, found) || !reflect.DeepEqual(canonical(wanted), canonical(there)) {
		return wanted
	}
	var same T
	if err := json.Unmarshal(found, &same); err != nil {
		return wanted
	}
	return same
}

func encode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // It is plain data.
	}
	return content
}
