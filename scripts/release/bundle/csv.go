package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// completeCSV adds to the hand-written base what follows from the options, the API and the other manifests.
func (m manifests) completeCSV(root string, o Options, images []image) (*yaml.RNode, error) {
	// The file itself is read: kustomize would drop its comments.
	csv, err := yaml.ReadFile(filepath.Join(root, Base))
	if err != nil {
		return nil, err
	}
	csv.YNode().Content[0].HeadComment = "" // A generated file has a heading of its own.
	icon, err := icon(root)
	if err != nil {
		return nil, err
	}
	install, err := m.install()
	if err != nil {
		return nil, err
	}
	annotations, err := m.annotations(o, images)
	if err != nil {
		return nil, err
	}
	spec, status, err := descriptors(root)
	if err != nil {
		return nil, err
	}
	crd := m.one("CustomResourceDefinition")
	var replaces *yaml.Node
	if o.Replaces != "" {
		replaces = scalar(Name(o.Replaces))
	}
	err = csv.PipeE(
		set(scalar(Name(o.Version)), "metadata", "name"),
		set(scalar(o.Version), "spec", "version"),
		set(replaces, "spec", "replaces"),
		yaml.Tee(annotations...),
		set(scalar(icon), "spec", "icon", "[mediatype=image/svg+xml]", "base64data"),
		set(field(crd, "metadata", "name"), append(owned, "name")...),
		set(field(crd, "spec", "names", "kind"), append(owned, "kind")...),
		set(field(crd, "spec", "versions", "0", "name"), append(owned, "version")...),
		set(spec, append(owned, "specDescriptors")...),
		set(status, append(owned, "statusDescriptors")...),
		set(install, "spec", "install"),
		set(relatedImages(images), "spec", "relatedImages"),
	)
	return csv, err
}

func (m manifests) annotations(o Options, images []image) ([]yaml.Filter, error) {
	examples := make([]json.RawMessage, len(m[sample]))
	for i, object := range m[sample] {
		var err error
		if examples[i], err = object.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(examples, "", "  ")
	if err != nil {
		return nil, err
	}
	list := scalar(string(text))
	list.Style = yaml.LiteralStyle
	disconnected := true
	for _, image := range images {
		disconnected = disconnected && strings.Contains(image.ref, "@")
	}
	filters := []yaml.Filter{
		set(list, "metadata", "annotations", "alm-examples"),
		yaml.Tee(yaml.SetAnnotation("containerImage", images[0].ref)),
		yaml.Tee(yaml.SetAnnotation("features.operators.openshift.io/disconnected", strconv.FormatBool(disconnected))),
	}
	if o.SkipRange != "" {
		filters = append(filters, yaml.Tee(yaml.SetAnnotation(skipRange, o.SkipRange)))
	}
	return filters, nil
}

// icon is base64 of the drawing beside the base. OperatorHub shows square icons only.
func icon(root string) (string, error) {
	path := filepath.Join(root, source, "icon.svg")
	drawing, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	_, size, _ := strings.Cut(string(drawing), `viewBox="`)
	var width, height float64
	if _, err := fmt.Sscanf(size, "0 0 %g %g", &width, &height); err != nil || width != height {
		return "", fmt.Errorf("%s: OperatorHub shows square icons only: write a viewBox such as \"0 0 64 64\"", path)
	}
	return base64.StdEncoding.EncodeToString(drawing), nil
}

// install holds what OLM creates itself: the Deployment, and roles for its ServiceAccount.
func (m manifests) install() (*yaml.Node, error) {
	rules, err := m.permissions()
	if err != nil {
		return nil, err
	}
	account, operator := scalar(m.one("ServiceAccount").GetName()), m.one("Deployment")
	granted := func(list string) *yaml.Node {
		return sequence(mapping("serviceAccountName", account, "rules", sequence(rules[list]...)))
	}
	deployment := mapping("name", scalar(operator.GetName()), "label", field(operator, "metadata", "labels"),
		"spec", field(operator, "spec"))
	return mapping("strategy", scalar("deployment"), "spec", mapping("permissions", granted("permissions"),
		"clusterPermissions", granted("clusterPermissions"), "deployments", sequence(deployment))), nil
}

func relatedImages(images []image) *yaml.Node {
	list := sequence()
	for _, image := range images {
		list.Content = append(list.Content, mapping("name", scalar(image.name), "image", scalar(image.ref)))
	}
	return list
}

func scalar(value string) *yaml.Node { return yaml.NewStringRNode(value).YNode() }

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// mapping takes keys and values in turn: a Go map would lose their order.
func mapping(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, scalar(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return node
}

// field is the node at a path. Without one it is an empty node, which no document has.
func field(object *yaml.RNode, path ...string) *yaml.Node {
	node, err := object.Pipe(yaml.Lookup(path...))
	if err != nil || node == nil {
		return &yaml.Node{}
	}
	return node.YNode()
}

// set writes a value to a path, whose last field may be new. It writes nothing for nil.
func set(value *yaml.Node, path ...string) yaml.Filter {
	return yaml.FilterFunc(func(object *yaml.RNode) (*yaml.RNode, error) {
		if value == nil {
			return object, nil
		}
		last := len(path) - 1
		field := yaml.FieldSetter{Name: path[last], Value: yaml.NewRNode(value), OverrideStyle: value.Style != 0}
		return object, object.PipeE(yaml.Lookup(path[:last]...), field)
	})
}
