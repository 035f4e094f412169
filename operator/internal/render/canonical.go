package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Hash returns the hash of the Pod template of a plan. Templates that make the same Pods have the same: neither the order
// of sets nor the spelling of quantities counts, nor a pull policy that the API server would fill in itself.
func Hash(p plan.Plan) string {
	hash := sha256.Sum256(encode(canonical("", decode(rendered(p)))))
	return hex.EncodeToString(hash[:8])
}

// sequences are the lists of a Pod template whose order means something. All others are sets.
var sequences = []string{"args", "command"}

// canonical sorts sets and spells quantities in one way. The value is that of a field.
func canonical(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = canonical(name, value[name])
			if field == "limits" || field == "requests" {
				value[name] = canonicalQuantity(value[name])
			}
		}
		if image, ok := value["image"].(string); ok && value["imagePullPolicy"] == string(pullPolicyOf(image)) {
			delete(value, "imagePullPolicy")
		}
	case []any:
		for i := range value {
			value[i] = canonical("", value[i])
		}
		if !slices.Contains(sequences, field) {
			slices.SortFunc(value, func(a, b any) int { return bytes.Compare(encode(a), encode(b)) })
		}
	}
	return value
}

func canonicalQuantity(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return value
	}
	return quantity.AsDec().String()
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
	wanted.Spec.Affinity = ordered(wanted.Spec.Affinity, there.Affinity)
	wanted.Spec.Tolerations = ordered(wanted.Spec.Tolerations, there.Tolerations)
	wanted.Spec.TopologySpreadConstraints = ordered(wanted.Spec.TopologySpreadConstraints, there.TopologySpreadConstraints)
	wanted.Spec.ImagePullSecrets = ordered(wanted.Spec.ImagePullSecrets, there.ImagePullSecrets)
	return wanted
}

// ordered returns what is wanted in the order of what is there, if they differ in nothing else.
func ordered[T any](wanted T, there any) T {
	asked, found := encode(wanted), encode(there)
	if bytes.Equal(asked, found) || !bytes.Equal(encode(canonical("", decode(wanted))), encode(canonical("", decode(there)))) {
		return wanted
	}
	var sorted T
	if err := json.Unmarshal(found, &sorted); err != nil {
		return wanted
	}
	return sorted
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
