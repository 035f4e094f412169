package bundle

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func scalar(value string) *yaml.Node { return yaml.NewStringRNode(value).YNode() }

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// mapping takes keys and values by turns: a Go map would lose their order.
func mapping(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, scalar(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return node
}

func lower(s string) string { return strings.ToLower(s) }

// crdNames are the group of a CustomResourceDefinition and the plural of its kind.
func crdNames(crd *yaml.RNode) (group, plural string, err error) {
	plural, group, found := strings.Cut(crd.GetName(), ".")
	if !found {
		err = fmt.Errorf("CustomResourceDefinition %s: the name has no group", crd.GetName())
	}
	return group, plural, err
}
