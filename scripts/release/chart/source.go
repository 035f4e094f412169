package chart

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/distribution/reference"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const (
	overlay    = "overlays/multiarch"               // what the chart installs by default
	everything = "scripts/release/chart/everything" // the same with all components that values turn on

	pod     = "spec.template.spec"
	manager = pod + ".containers.[name=manager]"
	archs   = pod + ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0" +
		".matchExpressions.[key=kubernetes.io/arch].values"
)

//go:embed all:files edits.yaml schema.yaml
var data embed.FS

// source is what a chart is made of. The files refer to its exported fields.
type source struct {
	Version                            string
	Operator, Agent, Memcached         image
	Replicas, Architectures, Resources string // the manifests' own, as YAML in one line
	CSV                                any    // the base of the ClusterServiceVersion, with what catalogs show

	objects []*yaml.RNode
}

// image is a reference in two parts: users may replace the repository alone, such as by a mirror.
type image struct{ Repository, Version string }

func (i image) String() string { return i.Repository + i.Version }

func readSource(root string, o Options) (*source, error) {
	csv, err := yaml.ReadFile(filepath.Join(root, bundle.Base))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.Base, err)
	}
	s := &source{Version: o.Version}
	if err := csv.YNode().Decode(&s.CSV); err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.Base, err)
	}
	if s.objects, err = build(filepath.Join(root, overlay)); err != nil {
		return nil, err
	}
	plain := s.deployment()
	if err := s.addOptions(root); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		into               *image
		released, fallback string
	}{
		{&s.Operator, o.Operator, manager + ".image"},
		{&s.Agent, o.Agent, manager + ".env.[name=RELATED_IMAGE_AGENT].value"},
		{&s.Memcached, o.Memcached, manager + ".env.[name=RELATED_IMAGE_MEMCACHED].value"},
	} {
		if part.released == "" {
			part.released, err = inline(plain, part.fallback)
		}
		parsed, parseErr := parseImage(part.released)
		*part.into = parsed
		if err := errors.Join(err, parseErr); err != nil {
			return nil, err
		}
	}
	var errs [3]error
	s.Replicas, errs[0] = inline(plain, "spec.replicas")
	s.Architectures, errs[1] = inline(plain, archs)
	s.Resources, errs[2] = inline(plain, manager+".resources")
	return s, errors.Join(errs[:]...)
}

// addOptions adds the objects of all components, and takes their Deployment in place of the plain one.
func (s *source) addOptions(root string) error {
	all, err := build(filepath.Join(root, everything))
	if err != nil {
		return err
	}
	for _, node := range all {
		same := func(known *yaml.RNode) bool { return idOf(known) == idOf(node) }
		switch i := slices.IndexFunc(s.objects, same); {
		case i < 0:
			s.objects = append(s.objects, node)
		case node.GetKind() == "Deployment":
			s.objects[i] = node
		}
	}
	return nil
}

func (s *source) deployment() *yaml.RNode {
	i := slices.IndexFunc(s.objects, func(o *yaml.RNode) bool { return o.GetKind() == "Deployment" })
	if i < 0 {
		return yaml.MakeNullNode()
	}
	return s.objects[i]
}

func idOf(node *yaml.RNode) string { return node.GetKind() + "/" + node.GetName() }

func build(dir string) ([]*yaml.RNode, error) {
	built, err := kustomize.Build(dir)
	if err != nil {
		return nil, err
	}
	var nodes []*yaml.RNode
	for _, resource := range built.Resources() {
		if resource.GetKind() != "Namespace" { // Helm makes it, or the user.
			nodes = append(nodes, &resource.RNode)
		}
	}
	return nodes, nil
}

func parseImage(text string) (image, error) {
	parsed, err := reference.Parse(text)
	if err != nil {
		return image{}, fmt.Errorf("image %q: %w", text, err)
	}
	named, ok := parsed.(reference.Named)
	if !ok || named.Name() == text {
		return image{}, fmt.Errorf("image %q: write a name with a tag or a digest", text)
	}
	return image{Repository: named.Name(), Version: text[len(named.Name()):]}, nil
}

// inline is the value of a field, as YAML in one line.
func inline(object *yaml.RNode, field string) (string, error) {
	nodes, err := match(object, field)
	if err != nil || len(nodes) != 1 {
		return "", fmt.Errorf("%s: the field %s is there %d times, want once: %w", idOf(object), field, len(nodes), err)
	}
	return oneLine(nodes[0])
}

func oneLine(node *yaml.Node) (string, error) {
	flow := yaml.CopyYNode(node)
	flow.Style, flow.LineComment = flow.Style|yaml.FlowStyle, ""
	line, err := yaml.String(flow)
	return strings.TrimSpace(line), err
}

// fill writes what is known of the release into an embedded file.
func (s *source) fill(name string) (string, error) {
	text, err := data.ReadFile(name)
	if err != nil {
		return "", err
	}
	parsed, err := template.New(name).Delims("[[", "]]").Funcs(template.FuncMap{
		"json": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
	}).Parse(string(text))
	if err != nil {
		return "", err
	}
	var filled strings.Builder
	err = parsed.Execute(&filled, s)
	return filled.String(), err
}

// createdAt is the time of the commit that is released.
func createdAt(root string) (time.Time, error) {
	csv, err := yaml.ReadFile(filepath.Join(root, bundle.Base))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", bundle.Base, err)
	}
	return time.Parse(time.RFC3339, csv.GetAnnotations()["createdAt"])
}
