package chart

import (
	"encoding/json"
	"strings"
)

// value is one that users of the chart may set.
type value struct {
	path     string // as in --set
	about    string
	schema   string // what it may be, as JSON
	fallback string // its default, as YAML
}

const (
	boolean = `{"type": "boolean"}`
	anyText = `{"type": "string"}`
	mapOf   = `{"type": "object", "additionalProperties": {"type": "string"}}`
	objects = `{"type": "array", "items": {"type": "object"}}`

	repository = `{"type": "string", "pattern": "^[a-z0-9]([a-zA-Z0-9.:-]*[a-zA-Z0-9])?(/[a-z0-9._-]+)+$"}`
	tag        = `{"type": "string", "pattern": "^([a-zA-Z0-9_][a-zA-Z0-9._-]{0,127})?$"}`
	digest     = `{"type": "string", "pattern": "^(sha256:[a-f0-9]{64})?$"}`
	pullPolicy = `{"type": "string", "enum": ["", "Always", "IfNotPresent", "Never"]}`
	names      = `{"type": "array", "uniqueItems": true,
		"items": {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"}}`
	secrets = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["name"],
		"properties": {"name": {"type": "string", "minLength": 1}}}}`
	requirements = `{"type": "object", "additionalProperties": false, "properties": {
		"requests": {"type": "object"}, "limits": {"type": "object"}, "claims": {"type": "array"}}}`
	flags = `{"type": "array", "items": {"type": "string", "pattern": "^--"}}`
)

// values are all that users may set, with their defaults as the manifests have them.
func (m *manifests) values() ([]value, error) {
	defaults := map[string]string{}
	for name, path := range map[string]string{
		"replicas": "spec replicas", "resources": containerPath + " resources", "architectures": archPath,
	} {
		node, err := lookup(m.plain, path)
		if err != nil {
			return nil, err
		}
		if defaults[name], err = node.String(); err != nil {
			return nil, err
		}
	}
	podLabels, err := m.more("labels")
	if err != nil {
		return nil, err
	}
	podAnnotations, err := m.more("annotations")
	if err != nil {
		return nil, err
	}
	known, err := inline(defaults["architectures"])
	if err != nil {
		return nil, err
	}
	architectures := `{"type": "array", "minItems": 1, "uniqueItems": true, "items": {"enum": ` +
		strings.NewReplacer("[", `["`, ", ", `", "`, "]", `"]`).Replace(known) + `}}`
	all := append(imageValuesOf("image", "the operator", m.images["operator"]),
		value{"image.pullPolicy", "Pull policy of the operator's image. Empty: as Kubernetes chooses.", pullPolicy, `""`})
	all = append(all, imageValuesOf("agent.image", "the agent in the Pods of caches", m.images["agent"])...)
	all = append(all, imageValuesOf("memcached.image", "a Memcached that names none", m.images["memcached"])...)
	return append(all, []value{
		{"imagePullSecrets", "Secrets in the release's namespace by which the operator's image is pulled.", secrets, "[]"},
		{"replicas", "Number of operators. One leads, the others stand by; from 2 on with a PodDisruptionBudget.",
			`{"type": "integer", "minimum": 0}`, defaults["replicas"]},
		{"architectures", "Architectures of the Nodes that the operator and the caches may run on.",
			architectures, defaults["architectures"]},
		{"watchNamespaces", "Namespaces to serve. Empty: all. Otherwise the operator has rights in these alone, " +
			"they must exist, and it serves no metrics.", names, "[]"},
		{"resources", "Resources of the operator's container.", requirements, defaults["resources"]},
		{"metrics.enabled", "Serve metrics of the operator, with the Service and the roles for that.", boolean, "true"},
		{"monitoring.enabled", "Objects for the Prometheus Operator: PodMonitor, ServiceMonitor and alerts. " +
			"Those of the operator itself only if it serves metrics.", boolean, "false"},
		{"networkPolicy.enabled", "A NetworkPolicy that lets in metrics and probes of the operator alone.",
			boolean, "true"},
		{"crds.install", "Install and upgrade the CRD with the release. Turn it off if something else does.",
			boolean, "true"},
		{"crds.keep", "Keep the CRD when the release is uninstalled. Without the CRD, all Memcacheds and their caches " +
			"are deleted.", boolean, "true"},
		{"extraArgs", "More flags for the operator, such as --max-concurrent-reconciles=20.", flags, "[]"},
		{"nodeSelector", "Labels of the Nodes that the operator may run on.", mapOf, "{}"},
		{"tolerations", "Tolerations of the operator's Pods.", objects, "[]"},
		{"priorityClassName", "PriorityClass of the operator's Pods.", anyText, `""`},
		{"podAnnotations", "More annotations of the operator's Pods, beside those that they have.", podAnnotations, "{}"},
		{"podLabels", "More labels of the operator's Pods, beside those that they have.", podLabels, "{}"},
	}...), nil
}

// more is the schema of labels or annotations that come beside those of the Pod template. One that is there already
// would be there twice, and the Pods would no longer match the selector.
func (m *manifests) more(field string) (string, error) {
	node, err := lookup(m.find("Deployment/"+manager).RNode, "spec template metadata "+field)
	if err != nil {
		return "", err
	}
	taken, err := node.Fields()
	if err != nil {
		return "", err
	}
	refused := map[string]bool{} // propertyNames would do the same, but Helm's errors then name another value.
	for _, key := range taken {
		refused[key] = false
	}
	text, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": map[string]any{"type": "string"}, "properties": refused,
	})
	return string(text), err
}

func imageValuesOf(path, what string, released image) []value {
	return []value{
		{path + ".repository", "Image of " + what + ": registry and repository.", repository, released.repository},
		{path + ".tag", "Its tag. Without tag and digest, the image is that of the release.", tag, `""`},
		{path + ".digest", "Its digest, such as sha256:... . It wins over the tag.", digest, `""`},
	}
}
