package chart

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// edit turns a field of the manifests into a piece of Helm template: see edits.yaml.
type edit struct {
	Object  string `json:"object"`
	Field   string `json:"field"`
	Set     string `json:"set"`
	Add     string `json:"add"`
	Enclose string `json:"enclose"`
}

// templates makes a template of each object.
func (s *source) templates() (bundle.Files, error) {
	text, err := s.fill("edits.yaml")
	if err != nil {
		return nil, err
	}
	var edits []edit
	if err := sigsyaml.UnmarshalStrict([]byte(text), &edits); err != nil {
		return nil, fmt.Errorf("edits.yaml: %w", err)
	}
	used := make([]bool, len(edits))
	files := bundle.Files{}
	for _, object := range s.objects {
		t := &templated{object: object}
		err := object.PipeE(yaml.LookupCreate(yaml.MappingNode, "metadata", "labels"))
		for i, e := range edits {
			if e.Object == "" || e.Object == object.GetKind() || e.Object == idOf(object) {
				applied, editErr := t.apply(e)
				used[i] = used[i] || applied
				err = errors.Join(err, editErr)
			}
		}
		if err != nil {
			return nil, err
		}
		name := strings.ToLower(object.GetKind()) + "-" + strings.TrimPrefix(object.GetName(), Name+"-")
		if files["templates/"+name+".yaml"], err = t.text(); err != nil {
			return nil, err
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("edits.yaml: the manifests have no %s %s: correct the edit", edits[i].Object, edits[i].Field)
	}
	return files, nil
}

// templated is an object with placeholders. In its text, a piece of Helm template replaces the line of each
// placeholder.
type templated struct {
	object  *yaml.RNode
	pieces  []string // a placeholder is the index of its piece
	actions []string // that enclose the object
}

// match finds the nodes at a field path.
func match(object *yaml.RNode, field string) ([]*yaml.Node, error) {
	found, err := object.Pipe(&yaml.PathMatcher{Path: utils.SmarterPathSplitter(field, ".")})
	if err != nil || found == nil {
		return nil, err
	}
	return found.Content(), nil
}

func (t *templated) apply(e edit) (applied bool, err error) {
	if e.Field == "" {
		t.actions = append(t.actions, e.Enclose)
		return true, nil
	}
	nodes, err := match(t.object, e.Field)
	if err != nil {
		return false, fmt.Errorf("%s: %s: %w", idOf(t.object), e.Field, err)
	}
	for _, node := range nodes {
		around, i := parent(t.object.YNode(), node)
		first := i
		if around.Kind == yaml.MappingNode {
			first-- // the key
		}
		switch {
		case e.Set != "":
			piece := strings.Replace(around.Content[first].Value+": "+e.Set, ": \n", ":\n", 1)
			around.Content = slices.Replace(around.Content, first, i+1, t.line(around, piece)...)
			around.Style = 0 // A YAML flow map cannot hold Helm's braces.
		case e.Add != "":
			node.Content = append(node.Content, t.line(node, e.Add)...)
		default:
			around.Content = slices.Concat(around.Content[:first], t.line(around, "{{- "+e.Enclose+" }}"),
				around.Content[first:i+1], t.line(around, "{{- end }}"), around.Content[i+1:])
		}
	}
	return len(nodes) > 0, nil
}

// parent finds the node that holds another, and the index of that in it.
func parent(root, node *yaml.Node) (around *yaml.Node, i int) {
	if i := slices.Index(root.Content, node); i >= 0 {
		return root, i
	}
	for _, child := range root.Content {
		if around, i := parent(child, node); around != nil {
			return around, i
		}
	}
	return nil, -1
}

// line is an entry of a map or list whose line a piece replaces.
func (t *templated) line(around *yaml.Node, piece string) []*yaml.Node {
	t.pieces = append(t.pieces, piece)
	mark := yaml.NewStringRNode(fmt.Sprintf("PIECE-%d-", len(t.pieces)-1)).YNode()
	if around.Kind != yaml.MappingNode {
		return []*yaml.Node{mark}
	}
	return []*yaml.Node{mark, yaml.NewStringRNode("").YNode()}
}

var marked = regexp.MustCompile(`(?m)^( *)(?:- )?PIECE-(\d+)-(?:: ""|:)?$`)

// text writes the template. What looks like a template in the object itself, such as in an alert, stays as it is.
func (t *templated) text() (string, error) {
	raw, err := t.object.String()
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(raw, "{{", "{{ \"{{\" }}")
	text = marked.ReplaceAllStringFunc(text, func(line string) string {
		found := marked.FindStringSubmatch(line)
		i, _ := strconv.Atoi(found[2]) // The pattern matches digits only.
		return found[1] + strings.ReplaceAll(t.pieces[i], "\n", "\n"+found[1])
	})
	for _, action := range t.actions { // A range makes several documents.
		text = "{{- " + action + " }}\n---\n" + text + "{{- end }}\n"
	}
	return text, nil
}
