package drift

// Describes drift for events and messages, with the fix.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// longestValue limits how much of a value a message shows, in bytes.
	longestValue = 80

	// mostFields limits how many fields a message lists. If there are more, a client has probably replaced the object.
	mostFields = 8

	notShown = "(not shown)"
)

// spell formats a value for a message. It hides environment variables, which may be secret, and the operator's own
// annotations.
func spell(path fieldpath.Path, value any) string {
	for _, element := range path {
		if element.FieldName != nil && *element.FieldName == "env" {
			return notShown
		}
	}
	if IsOwnAnnotation(path) {
		return "(an annotation of the operator)"
	}
	text := &strings.Builder{}
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(withoutEnv(value)); err != nil {
		return "(not JSON)"
	}
	return cut(strings.TrimSpace(text.String()))
}

// withoutEnv hides the environment variables in a value.
func withoutEnv(from any) any {
	switch from := from.(type) {
	case map[string]any:
		to := map[string]any{}
		for name, content := range from {
			if to[name] = withoutEnv(content); name == "env" {
				to[name] = notShown
			}
		}
		return to
	case []any:
		to := make([]any, len(from))
		for i, content := range from {
			to[i] = withoutEnv(content)
		}
		return to
	}
	return from
}

func cut(text string) string {
	if len(text) <= longestValue {
		return text
	}
	end := longestValue
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Describe returns what was changed by which client: .spec.replicas 3 -> 7 by "kubectl-edit" (Update,
// 2026-08-30T12:00:00Z).
func Describe(drifts []Drift) string {
	var words []string
	for i, drift := range drifts[:min(len(drifts), mostFields)] {
		change := drift.change()
		if i+1 == len(drifts) || i+1 == mostFields || drifts[i+1].by() != drift.by() {
			change += drift.by() // It is written once for all fields of an author.
		}
		words = append(words, change)
	}
	if more := len(drifts) - mostFields; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

func (d Drift) change() string {
	if d.Is == "" {
		return fmt.Sprintf("%s %s -> removed", d.Field, d.Was)
	}
	return fmt.Sprintf("%s %s -> %s", d.Field, d.Was, d.Is)
}

func (d Drift) by() string {
	switch {
	case d.Kind == Admission:
		return " by a mutating admission policy or webhook"
	case d.Author == nil:
		return " by an unrecorded client"
	case d.Is == "":
		return fmt.Sprintf("; the object was last written by %s", d.Author)
	}
	return fmt.Sprintf(" by %s", d.Author)
}

// Fixes returns how to prevent the drift, for an object of a kind.
func Fixes(kind string, drifts []Drift) string {
	var fixes []string
	for _, drift := range drifts {
		if fix := drift.fix(kind); !slices.Contains(fixes, fix) {
			fixes = append(fixes, fix)
		}
	}
	return strings.Join(fixes, "; ")
}

func (d Drift) fix(kind string) string {
	switch d.Kind {
	case ArgoCD:
		return fmt.Sprintf("Argo CD manages the %[1]s directly: "+
			"remove the %[1]s from the Application, and keep the Memcached in the Application", kind)
	case HorizontalAutoscaler:
		return "an autoscaler scales the Deployment: point the HorizontalPodAutoscaler's scaleTargetRef at the Memcached"
	case VerticalAutoscaler:
		return fmt.Sprintf("an autoscaler sets container resources: "+
			"set spec.resources of the Memcached, or exclude the %s from the autoscaler", kind)
	case Manual:
		return fmt.Sprintf("change %s instead of the %s", d.counterpart(), kind)
	case Operator:
		return fmt.Sprintf("another memcached operator manages this cache, or an admission webhook changes what is "+
			"applied: remove that operator, or exempt the %s from the webhook", kind)
	case Admission:
		return fmt.Sprintf("exempt the %s from the policy or webhook", kind)
	case Other:
		return fmt.Sprintf("stop %q from setting this field, or set %s to the same value", d.Author.Manager, d.counterpart())
	case Unknown:
	}
	return "find the client in the audit log of the API server"
}

// counterparts are fields of managed objects, with the field of the Memcached that determines them.
var counterparts = []struct{ ofObject, ofMemcached string }{
	{".spec.replicas", "spec.size"},
	{"].image", "spec.image"},
	{"].resources", "spec.resources"},
	{".imagePullSecrets", "spec.imagePullSecrets"},
	{".spec.template.metadata", "spec.podTemplate.metadata"},
	{".spec.template.spec.nodeSelector", "spec.placement"},
	{".spec.template.spec.affinity", "spec.placement"},
	{".spec.template.spec.tolerations", "spec.placement"},
	{".spec.template.spec.topologySpreadConstraints", "spec.placement"},
	{".spec.template.spec.priorityClassName", "spec.placement"},
	{".spec.template.spec.serviceAccountName", "spec.podTemplate"},
	{".spec.template.spec.dnsConfig", "spec.podTemplate"},
	{".spec.strategy", "spec.rollout"},
	{".spec.minReadySeconds", "spec.rollout"},
	{".spec.maxUnavailable", "spec.disruption"},
}

func (d Drift) counterpart() string {
	for _, pair := range counterparts {
		if strings.Contains(d.Field, pair.ofObject) {
			return pair.ofMemcached + " of the Memcached"
		}
	}
	return "the Memcached"
}
