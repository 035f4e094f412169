package bundle

import (
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/test/crd"
)

const (
	control  = "urn:alm:descriptor:com.tectonic.ui:"
	kind     = "urn:alm:descriptor:io.kubernetes:"
	advanced = control + "advanced"
)

// owned is the path of the API in a ClusterServiceVersion.
var owned = []string{"spec", "customresourcedefinitions", "owned", "0"}

// descriptors are what a console shows of each field of spec and status. All of it follows from the field's name, type
// and comment.
func descriptors(root string) (spec, status *yaml.Node, err error) {
	fields, err := crd.Fields(root)
	spec, status = sequence(), sequence()
	for i, field := range fields {
		if strings.HasSuffix(field.Path, "[]") || withinResources(fields[:i], field) {
			continue
		}
		if path, inSpec := strings.CutPrefix(field.Path, "spec."); inSpec {
			spec.Content = append(spec.Content, descriptor(path, field, specControls(path, field)))
		} else {
			path = strings.TrimPrefix(field.Path, "status.")
			status.Content = append(status.Content, descriptor(path, field, statusControls(path, field)))
		}
	}
	return spec, status, err
}

// withinResources returns whether one control shows the field with its siblings.
func withinResources(earlier []crd.Field, field crd.Field) bool {
	return slices.ContainsFunc(earlier, func(parent crd.Field) bool {
		return isResources(parent) && strings.HasPrefix(field.Path, parent.Path+".")
	})
}

func isResources(field crd.Field) bool {
	_, limits := field.Schema.Properties["limits"]
	_, requests := field.Schema.Properties["requests"]
	return limits && requests
}

// descriptor describes a field by the first sentence of its comment and by its default. The first item stands for all
// items of a list.
func descriptor(path string, field crd.Field, controls []string) *yaml.Node {
	description := field.Meaning()
	if value := field.Default(); value != "" {
		description += " Defaults to " + value + "."
	}
	pairs := []any{
		"path", scalar(strings.ReplaceAll(path, "[]", "[0]")),
		"displayName", scalar(displayName(path)),
		"description", scalar(description),
	}
	if len(controls) > 0 {
		list := sequence()
		for _, c := range controls {
			list.Content = append(list.Content, scalar(c))
		}
		pairs = append(pairs, "x-descriptors", list)
	}
	return mapping(pairs...)
}

// displayName makes "Image pull policy" of imagePullPolicy, and "Pod metadata labels" of podMetadata.labels: a console
// shows the parent only for some controls.
func displayName(path string) string {
	var words []string
	for name := range strings.SplitSeq(strings.ReplaceAll(path, "[]", ""), ".") {
		words = append(words, strings.FieldsFunc(spaced(name), unicode.IsSpace)...)
	}
	for i, word := range words {
		words[i] = strings.ToLower(word)
		switch words[i] {
		case "tls", "ip":
			words[i] = strings.ToUpper(word)
		case "pod":
			words[i] = "Pod"
		}
	}
	words = slices.Compact(words)
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return strings.Join(words, " ")
}

// spaced puts a space before each word of a name in camel case.
func spaced(name string) string {
	var text strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			text.WriteByte(' ')
		}
		text.WriteRune(r)
	}
	return text.String()
}

// specControls are what a console's form has for the field. What is not a plain value of the spec itself is advanced.
func specControls(path string, field crd.Field) []string {
	name := path[strings.LastIndex(path, ".")+1:]
	var controls []string
	switch {
	case path == "size":
		controls = []string{control + "podCount"}
	case isResources(field):
		controls = []string{control + "resourceRequirements"}
	case name == "secretName", strings.HasSuffix(path, "Secrets[].name"):
		controls = []string{kind + "Secret"}
	case name == "priorityClassName":
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
