package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Hash returns the hash of the Pod template of a plan. Templates that make the same Pods have the same: neither the order
// of sets nor the spelling of quantities counts, nor a pull policy that the API server would fill in itself.
func Hash(p plan.Plan) string {
	template := rendered(p)
	spec := template.Spec
	for _, containers := range [][]corev1ac.ContainerApplyConfiguration{spec.InitContainers, spec.Containers} {
		for i := range containers {
			spellQuantities(containers[i].Resources)
			leaveOutPullPolicy(&containers[i])
		}
	}
	sort(spec.ImagePullSecrets)
	sort(spec.Tolerations)
	sort(spec.TopologySpreadConstraints)
	affinity := sorted(decode(spec.Affinity))
	spec.Affinity = nil
	hash := sha256.New()
	hash.Write(encode(template))
	hash.Write(encode(affinity))
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// spellQuantities spells all quantities in one way.
func spellQuantities(resources *corev1ac.ResourceRequirementsApplyConfiguration) {
	if resources == nil {
		return
	}
	for _, list := range []**corev1.ResourceList{&resources.Limits, &resources.Requests} {
		if *list == nil {
			continue
		}
		spelled := corev1.ResourceList{} // The list is the plan's.
		for name, quantity := range **list {
			quantity.Format = resource.DecimalSI
			spelled[name] = quantity.DeepCopy()
		}
		*list = &spelled
	}
}

func leaveOutPullPolicy(container *corev1ac.ContainerApplyConfiguration) {
	if policy := container.ImagePullPolicy; policy != nil && *policy == pullPolicyOf(*container.Image) {
		container.ImagePullPolicy = nil
	}
}

func sort[T any](set []T) {
	if len(set) > 1 {
		slices.SortFunc(set, func(a, b T) int { return bytes.Compare(encode(a), encode(b)) })
	}
}

// sorted sorts all lists in a value that was decoded. They have to be sets.
func sorted(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = sorted(value[name])
		}
	case []any:
		for i := range value {
			value[i] = sorted(value[i])
		}
		sort(value)
	}
	return value
}

// inOrderOf gives the sets of what users say about the placement of Pods, and of their pull Secrets, the order that they
// have in the Deployment that exists, where they are the same otherwise. The Deployment controller knows no sets: it
// would replace the Pods for another order.
func inOrderOf(
	deployed *appsv1.Deployment, wanted *corev1ac.PodTemplateSpecApplyConfiguration,
) *corev1ac.PodTemplateSpecApplyConfiguration {
	if deployed == nil {
		return wanted
	}
	there := deployed.Spec.Template.Spec
	if there.Affinity != nil {
		wanted.Spec.Affinity = ordered(wanted.Spec.Affinity, there.Affinity)
	}
	wanted.Spec.Tolerations = orderedList(wanted.Spec.Tolerations, there.Tolerations)
	wanted.Spec.TopologySpreadConstraints = orderedList(
		wanted.Spec.TopologySpreadConstraints, there.TopologySpreadConstraints)
	wanted.Spec.ImagePullSecrets = orderedList(wanted.Spec.ImagePullSecrets, there.ImagePullSecrets)
	return wanted
}

func orderedList[T, L any](wanted []T, there []L) []T {
	if len(wanted) < 2 || len(wanted) != len(there) {
		return wanted
	}
	return ordered(wanted, there)
}

// ordered returns what is wanted in the order of what is there, if they differ in nothing else.
func ordered[T any](wanted T, there any) T {
	asked, found := encode(wanted), encode(there)
	if bytes.Equal(asked, found) || !bytes.Equal(encode(sorted(decode(wanted))), encode(sorted(decode(there)))) {
		return wanted
	}
	var inOrder T
	if err := json.Unmarshal(found, &inOrder); err != nil {
		return wanted
	}
	return inOrder
}

func encode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // It is plain data.
	}
	return content
}

func decode(from any) any {
	var value any
	if err := json.Unmarshal(encode(from), &value); err != nil {
		panic(err) // It was just encoded.
	}
	return value
}
