package bundle

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example-inc/memcached-operator/test/crd"
)

const (
	control  = "urn:alm:descriptor:com.tectonic.ui:"
	kind     = "urn:alm:descriptor:io.kubernetes:"
	advanced = control + "advanced"
)

// descriptor says how a console shows a field of the API. All of it follows from the field's name, type and comment.
type descriptor struct {
	Path        string
	DisplayName string `yaml:"displayName"`
	Description string
	Controls    []string `yaml:"x-descriptors,omitempty"`
}

func descriptors(root string) (spec, status []descriptor, err error) {
	fields, err := crd.Fields(root)
	within := "" // fields whose paths begin with this are shown by the control of an earlier field
	for _, field := range fields {
		if strings.HasSuffix(field.Path, "[]") || within != "" && strings.HasPrefix(field.Path, within) {
			continue
		}
		if isResources(field) {
			within = field.Path + "."
		}
		if path, inSpec := strings.CutPrefix(field.Path, "spec."); inSpec {
			spec = append(spec, describe(path, field, specControls(path, field)))
		} else {
			path = strings.TrimPrefix(field.Path, "status.")
			status = append(status, describe(path, field, statusControls(path, field)))
		}
	}
	return spec, status, err
}

// isResources reports whether the field has resource requirements. For such a field, one control shows all fields below
// it.
func isResources(field crd.Field) bool {
	_, limits := field.Schema.Properties["limits"]
	_, requests := field.Schema.Properties["requests"]
	return limits && requests
}

// describe returns the descriptor of a field. The description is the first sentence of the field's comment, and the
// field's default. For a list, it is about the first item, which stands for all items.
func describe(path string, field crd.Field, controls []string) descriptor {
	description := field.Meaning()
	if value := field.Default(); value != "" {
		description += " Defaults to " + value + "."
	}
	return descriptor{strings.ReplaceAll(path, "[]", "[0]"), displayName(path), description, controls}
}

var (
	capital = regexp.MustCompile(`[A-Z]`)
	spelled = map[string]string{"tls": "TLS", "ip": "IP", "dns": "DNS", "pod": "Pod"}
)

// displayName makes "Image pull policy" of imagePullPolicy, and "Pod template metadata labels" of
// podTemplate.metadata.labels. The whole path is in the name, because a console shows the field above it only for some
// controls.
func displayName(path string) string {
	text := capital.ReplaceAllString(strings.NewReplacer("[]", "", ".", " ").Replace(path), " $0")
	words := slices.Compact(strings.Fields(strings.ToLower(text)))
	for i, word := range words {
		words[i] = cmp.Or(spelled[word], word)
	}
	name := strings.Join(words, " ")
	return strings.ToUpper(name[:1]) + name[1:]
}

// specControls returns the controls that a console's form has for the field. The form shows a field as advanced, unless
// the field is directly in the spec and has a plain value.
func specControls(path string, field crd.Field) []string {
	var controls []string
	switch {
	case path == "size":
		controls = []string{control + "podCount"}
	case isResources(field):
		controls = []string{control + "resourceRequirements"}
	case strings.HasSuffix(path, "secretName"), strings.HasSuffix(path, "Secrets[].name"):
		controls = []string{kind + "Secret"}
	case strings.HasSuffix(path, "serviceAccountName"):
		controls = []string{kind + "ServiceAccount"}
	case strings.HasSuffix(path, "priorityClassName"):
		controls = []string{kind + "PriorityClass"}
	default:
		controls = controlOfType(field.Schema)
	}
	if len(controls) != 1 || strings.Contains(path, ".") || isResources(field) {
		controls = append(controls, advanced)
	}
	return controls
}

func controlOfType(schema apiextensionsv1.JSONSchemaProps) (controls []string) {
	for _, value := range schema.Enum {
		controls = append(controls, control+"select:"+strings.Trim(string(value.Raw), `"`))
	}
	switch {
	case len(controls) > 0:
		return controls
	case schema.XIntOrString, schema.Type == "string":
		return []string{control + "text"}
	case schema.Type == "integer":
		return []string{control + "number"}
	case schema.Type == "boolean":
		return []string{control + "booleanSwitch"}
	}
	return nil
}

func statusControls(path string, field crd.Field) []string {
	switch {
	case path == "conditions":
		return []string{"urn:alm:descriptor:io.kubernetes.conditions"}
	case field.Schema.Type == "array", field.Schema.Type == "object":
		return nil
	}
	return []string{control + "text"}
}
