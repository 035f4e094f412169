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

// apiGroup is the group of the API that the operator serves.
const apiGroup = "cache.example.com"

// completeCSV adds to the hand-written base what the other manifests say.
func (m *manifests) completeCSV(root string, o Options) error {
	container, err := m.managerContainer()
	if err != nil {
		return err
	}
	images, err := relatedImages(container)
	if err != nil {
		return err
	}
	p, err := m.bindPermissions()
	if err != nil {
		return err
	}
	for _, complete := range []func() error{
		func() error { return m.setIdentity(o) },
		func() error { return m.setAnnotations(o, images) },
		func() error { return m.setIcon(root) },
		func() error { return m.setInstall(p) },
		func() error { return m.setRelatedImages(images) },
	} {
		if err := complete(); err != nil {
			return fmt.Errorf("%s: %w", Base, err)
		}
	}
	m.dropPlacement()
	m.dropHead()
	return nil
}

func (m *manifests) setIdentity(o Options) error {
	steps := []yaml.Filter{yaml.Tee(yaml.Lookup("metadata"), yaml.SetField("name", yaml.NewStringRNode(Name(o.Version))))}
	spec := map[string]string{"version": o.Version}
	if o.Replaces != "" {
		spec["replaces"] = Name(o.Replaces)
	}
	for _, field := range []string{"version", "replaces"} {
		if value, set := spec[field]; set {
			steps = append(steps, yaml.Tee(yaml.Lookup("spec"), yaml.SetField(field, yaml.NewStringRNode(value))))
		}
	}
	return m.csv.PipeE(steps...)
}

func (m *manifests) setAnnotations(o Options, images []image) error {
	examples, err := m.examples()
	if err != nil {
		return err
	}
	disconnected := true
	for _, image := range images {
		disconnected = disconnected && strings.Contains(image.ref, "@")
	}
	values := []struct{ name, value string }{
		{"alm-examples", examples},
		{"containerImage", images[0].ref},
		{"createdAt", o.CreatedAt},
		{"features.operators.openshift.io/disconnected", strconv.FormatBool(disconnected)},
		{"olm.skipRange", o.SkipRange},
	}
	for _, v := range values {
		if v.value == "" {
			continue
		}
		if err := m.setAnnotation(v.name, v.value); err != nil {
			return err
		}
	}
	return nil
}

// setAnnotation keeps the comment of an annotation that is there.
func (m *manifests) setAnnotation(name, value string) error {
	if err := m.csv.PipeE(yaml.SetAnnotation(name, value)); err != nil {
		return err
	}
	node, err := m.csv.Pipe(yaml.GetAnnotation(name))
	if err != nil {
		return err
	}
	if strings.Contains(value, "\n") {
		node.YNode().Style = yaml.LiteralStyle
	}
	return nil
}

// examples are the samples, as a console offers them to those who make a first cache.
func (m *manifests) examples() (string, error) {
	var list []json.RawMessage
	for _, sample := range m.samples {
		content, err := sample.MarshalJSON()
		if err != nil {
			return "", err
		}
		list = append(list, content)
	}
	text, err := json.MarshalIndent(list, "", "  ")
	return string(text), err
}

func (m *manifests) setIcon(root string) error {
	drawing, err := os.ReadFile(filepath.Join(root, icon))
	if err != nil {
		return err
	}
	data := yaml.NewStringRNode(base64.StdEncoding.EncodeToString(drawing))
	return m.csv.PipeE(yaml.Lookup("spec", "icon", "[mediatype=image/svg+xml]"), yaml.SetField("base64data", data))
}

// setInstall writes what OLM makes: the Deployment, and the permissions of its account.
func (m *manifests) setInstall(p permissions) error {
	labels, err := m.deployment.Pipe(yaml.Lookup("metadata", "labels"))
	if err != nil {
		return err
	}
	spec, err := m.deployment.Pipe(yaml.Lookup("spec"))
	if err != nil {
		return err
	}
	deployment := mapping(
		"name", scalar(m.deployment.GetName()),
		"label", labels.YNode(),
		"spec", spec.YNode(),
	)
	install := mapping(
		"strategy", scalar("deployment"),
		"spec", mapping(
			"permissions", sequence(m.granted(p.namespaced)),
			"clusterPermissions", sequence(m.granted(p.cluster)),
			"deployments", sequence(deployment),
		),
	)
	return m.csv.PipeE(yaml.Lookup("spec"), yaml.SetField("install", yaml.NewRNode(install)))
}

func (m *manifests) granted(rules []*yaml.Node) *yaml.Node {
	return mapping("serviceAccountName", scalar(m.account.GetName()), "rules", sequence(rules...))
}

func (m *manifests) setRelatedImages(images []image) error {
	var list []*yaml.Node
	for _, image := range images {
		list = append(list, mapping("name", scalar(image.name), "image", scalar(image.ref)))
	}
	return m.csv.PipeE(yaml.Lookup("spec"), yaml.SetField("relatedImages", yaml.NewRNode(sequence(list...))))
}

// dropPlacement: OLM puts what is in a bundle into the namespace of the installation.
func (m *manifests) dropPlacement() {
	for _, object := range m.kept {
		_ = object.SetNamespace("")
	}
}

// dropHead removes the comment that tells of the base: what is generated has one of its own.
func (m *manifests) dropHead() {
	node := m.csv.YNode()
	node.HeadComment = ""
	if len(node.Content) > 0 {
		node.Content[0].HeadComment = ""
	}
}
