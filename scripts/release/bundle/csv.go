package bundle

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// completeCSV adds to the hand-written base what follows from the options, the API and the other manifests.
func (m manifests) completeCSV(root string, o Options, images []RelatedImage) (*yaml.RNode, error) {
	// The file itself is read: kustomize would drop its comments.
	csv, err := yaml.ReadFile(filepath.Join(root, Base))
	if err != nil {
		return nil, err
	}
	csv.YNode().Content[0].HeadComment = "" // A generated file has a heading of its own.
	picture, pictureErr := icon(root)
	examples, examplesErr := json.MarshalIndent(m[sample], "", "  ")
	permissions, permissionsErr := m.permissions()
	spec, status, descriptorsErr := descriptors(root)
	if err := errors.Join(pictureErr, examplesErr, permissionsErr, descriptorsErr); err != nil {
		return nil, err
	}
	crd := m.one("CustomResourceDefinition")
	disconnected := !slices.ContainsFunc(images, func(i RelatedImage) bool { return !strings.Contains(i.Image, "@") })
	owned := []string{"spec", "customresourcedefinitions", "owned", "0"}
	edits := []yaml.Filter{
		set(Name(o.Version), "metadata", "name"),
		set(o.Version, "spec", "version"),
		set(string(examples), "metadata", "annotations", "alm-examples"),
		set(images[0].Image, "metadata", "annotations", "containerImage"),
		set(strconv.FormatBool(disconnected), "metadata", "annotations", "features.operators.openshift.io/disconnected"),
		set(picture, "spec", "icon", "[mediatype=image/svg+xml]", "base64data"),
		set(crd.GetName(), append(owned, "name")...),
		set(field(crd, "spec", "names", "kind").Value, append(owned, "kind")...),
		set(field(crd, "spec", "versions", "0", "name").Value, append(owned, "version")...),
		set(spec, append(owned, "specDescriptors")...),
		set(status, append(owned, "statusDescriptors")...),
	}
	if o.SkipRange != "" {
		edits = append(edits, set(o.SkipRange, "metadata", "annotations", skipRange))
	}
	if o.Replaces != "" {
		edits = append(edits, set(Name(o.Replaces), "spec", "replaces"))
	}
	edits = append(edits, m.install(permissions)...)
	return csv, csv.PipeE(append(edits, set(images, "spec", "relatedImages"))...)
}

// set writes a value to a path, whose last field may be new. Encode would drop the comments of a node.
func set(value any, path ...string) yaml.Filter {
	return yaml.FilterFunc(func(object *yaml.RNode) (*yaml.RNode, error) {
		node, isNode := value.(*yaml.Node)
		if !isNode {
			node = &yaml.Node{}
			if err := node.Encode(value); err != nil {
				return nil, err
			}
		}
		last, long := len(path)-1, node.Style == yaml.LiteralStyle
		field := yaml.FieldSetter{Name: path[last], Value: yaml.NewRNode(node), OverrideStyle: long}
		return object, object.PipeE(yaml.Lookup(path[:last]...), field)
	})
}

// field is the node at a path. Without one it is an empty node, which no document has.
func field(object *yaml.RNode, path ...string) *yaml.Node {
	node, err := object.Pipe(yaml.Lookup(path...))
	if err != nil || node == nil {
		return &yaml.Node{}
	}
	return node.YNode()
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

// strategy is what OLM creates itself: the Deployment, and roles for its ServiceAccount.
type strategy struct {
	Strategy string
	Spec     struct {
		Permissions        []grant
		ClusterPermissions []grant `yaml:"clusterPermissions"`
		Deployments        []struct{ Name string }
	}
}

type grant struct {
	Account string `yaml:"serviceAccountName"`
	Rules   []*yaml.Node
}

func (m manifests) install(rules map[string][]*yaml.Node) []yaml.Filter {
	account, operator := m.one("ServiceAccount").GetName(), m.one("Deployment")
	s := strategy{Strategy: "deployment"}
	s.Spec.Permissions = []grant{{account, rules["permissions"]}}
	s.Spec.ClusterPermissions = []grant{{account, rules["clusterPermissions"]}}
	s.Spec.Deployments = []struct{ Name string }{{operator.GetName()}}
	return []yaml.Filter{
		set(s, "spec", "install"),
		set(field(operator, "metadata", "labels"), "spec", "install", "spec", "deployments", "0", "label"),
		set(field(operator, "spec"), "spec", "install", "spec", "deployments", "0", "spec"),
	}
}
