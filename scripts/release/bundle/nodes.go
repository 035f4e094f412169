package bundle

import "sigs.k8s.io/kustomize/kyaml/yaml"

func scalar(value string) *yaml.Node { return yaml.NewStringRNode(value).YNode() }

// optional is nil for an empty value.
func optional(value string, format func(string) string) *yaml.Node {
	if value == "" {
		return nil
	}
	return scalar(format(value))
}

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

// field is the node at a path, or nil.
func field(object *yaml.RNode, path ...string) *yaml.Node {
	node, err := object.Pipe(yaml.Lookup(path...))
	if err != nil || node == nil {
		return nil
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
