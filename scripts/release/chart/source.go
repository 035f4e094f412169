package chart

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const (
	overlay    = "overlays/multiarch"               // what the chart installs by default
	everything = "scripts/release/chart/everything" // overlay, with all components that values can enable
	manager    = "spec.template.spec.containers.[name=manager]"
)

//go:embed all:files edits.yaml schema.yaml
var data embed.FS

// source is the data from which a chart is made. The embedded files refer to its exported fields and methods.
type source struct {
	Version                              string
	Operator, Agent, Snapshot, Memcached image

	csv        *yaml.RNode // the base of the ClusterServiceVersion, with what catalogs show
	deployment *yaml.RNode // the overlay's Deployment, which has the default values
	objects    map[string]*yaml.RNode
}

// image is an image reference in two parts, so that users can replace only the repository, for example to use a mirror.
type image struct{ Repository, Version string }

func (i image) String() string { return i.Repository + i.Version }

func readSource(root string, o Options) (*source, error) {
	csv, err := yaml.ReadFile(filepath.Join(root, bundle.Base))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.Base, err)
	}
	s := &source{Version: o.Version, csv: csv, objects: map[string]*yaml.RNode{}}
	for _, dir := range []string{overlay, everything} {
		if err := s.addObjects(filepath.Join(root, dir)); err != nil {
			return nil, err
		}
	}
	var errs [4]error
	s.Operator, errs[0] = s.image("image", o.Operator, manager+".image")
	s.Agent, errs[1] = s.image("agent-image", o.Agent, manager+".env.[name=RELATED_IMAGE_AGENT].value")
	s.Memcached, errs[2] = s.image("memcached-image", o.Memcached, manager+".env.[name=RELATED_IMAGE_MEMCACHED].value")
	s.Snapshot, errs[3] = s.image("snapshot-image", o.Snapshot, manager+".env.[name=RELATED_IMAGE_SNAPSHOT].value")
	return s, errors.Join(errs[:]...)
}

// addObjects adds the objects that a kustomization builds. An object replaces the object with the same kind and name of
// an earlier kustomization.
func (s *source) addObjects(dir string) error {
	built, err := kustomize.Build(dir)
	if err != nil {
		return err
	}
	for _, object := range built.ToRNodeSlice() {
		switch object.GetKind() {
		case "Namespace": // Helm or the user creates the namespace.
			continue
		case "Deployment":
			s.deployment = cmp.Or(s.deployment, object)
		}
		s.objects[idOf(object)] = object
	}
	return nil
}

func idOf(node *yaml.RNode) string { return node.GetKind() + "/" + node.GetName() }

// image returns the chosen image of a flag or, if it is empty, the image in a field of the Deployment.
func (s *source) image(flag, chosen, field string) (image, error) {
	inManifest, err := s.Manifest(field)
	ref := cmp.Or(chosen, inManifest)
	repository := bundle.RepositoryOf(ref)
	return image{repository, ref[len(repository):]}, errors.Join(err, bundle.ValidateImage(flag, ref))
}

// Manifest returns the value of a field of the Deployment, in one line.
func (s *source) Manifest(field string) (string, error) { return oneLine(s.deployment, field) }

// CSV returns the value of a field of the ClusterServiceVersion, in one line.
func (s *source) CSV(field string) (string, error) { return oneLine(s.csv, field) }

func oneLine(object *yaml.RNode, field string) (string, error) {
	found, err := object.Pipe(&yaml.PathMatcher{Path: utils.SmarterPathSplitter(field, ".")})
	if err != nil {
		return "", err
	}
	if len(found.Content()) != 1 {
		return "", fmt.Errorf("%s has the field %s %d times, want once", idOf(object), field, len(found.Content()))
	}
	return inline(found.Content()[0])
}

// inline returns YAML in one line.
func inline(node *yaml.Node) (string, error) {
	flow := yaml.CopyYNode(node)
	flow.Style, flow.LineComment = flow.Style|yaml.FlowStyle, ""
	line, err := yaml.String(flow)
	return strings.TrimSpace(line), err
}

// fill renders an embedded file, which is a template, with the data in s.
func (s *source) fill(name string) (string, error) {
	text, err := data.ReadFile(name)
	if err != nil {
		return "", err
	}
	parsed, err := template.New(name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return "", err
	}
	var filled strings.Builder
	err = parsed.Execute(&filled, s)
	return filled.String(), err
}

// value is a value that users of the chart may set, with its comment and its default in values.yaml.
type value struct{ path, about, fallback string }

// values returns the values in values.yaml: all keys that have a comment.
func (s *source) values() ([]value, error) {
	text, err := s.fill("files/values.yaml")
	if err != nil {
		return nil, err
	}
	root, err := yaml.Parse(text)
	if err != nil {
		return nil, err
	}
	return valuesBelow(root.YNode(), "")
}

func valuesBelow(node *yaml.Node, path string) (all []value, err error) {
	for i := 0; i < len(node.Content); i += 2 {
		key, content := node.Content[i], node.Content[i+1]
		if key.HeadComment == "" {
			below, err := valuesBelow(content, path+key.Value+".")
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
			continue
		}
		fallback, err := inline(content)
		if err != nil {
			return nil, err
		}
		about := strings.ReplaceAll(strings.TrimPrefix(key.HeadComment, "# "), "\n# ", " ")
		all = append(all, value{path + key.Value, about, fallback})
	}
	return all, nil
}

// schema returns values.schema.json. It is schema.yaml, with the comment of each value as its description.
func (s *source) schema() (string, error) {
	text, err := data.ReadFile("schema.yaml")
	if err != nil {
		return "", err
	}
	root := map[string]any{}
	if err := sigsyaml.Unmarshal(text, &root); err != nil {
		return "", err
	}
	values, err := s.values()
	if err != nil {
		return "", err
	}
	for _, v := range values {
		at := root
		for part := range strings.SplitSeq(v.path, ".") {
			properties, _ := at["properties"].(map[string]any)
			if at, _ = properties[part].(map[string]any); at == nil {
				return "", fmt.Errorf("schema.yaml has no %s, which files/values.yaml has: add it", v.path)
			}
		}
		at["description"] = v.about
	}
	indented, err := json.MarshalIndent(root, "", "  ")
	return string(indented) + "\n", err
}

// Table returns the values of values.yaml as a table in Markdown.
func (s *source) Table() (string, error) {
	values, err := s.values()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("| value | default | meaning |\n| --- | --- | --- |\n")
	for _, v := range values {
		if strings.HasSuffix(v.path, ".repository") && s.Version == "" {
			v.fallback = ""
		}
		if v.fallback != "" {
			v.fallback = "`" + v.fallback + "`"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", v.path, v.fallback, v.about)
	}
	return text.String(), nil
}

// Table returns the values of values.yaml as a table in Markdown, without the defaults that change with each release.
func Table(root string) (string, error) {
	s, err := readSource(root, Options{})
	if err != nil {
		return "", err
	}
	return s.Table()
}
