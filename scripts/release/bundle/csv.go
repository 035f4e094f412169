package bundle

import (
	"cmp"
	"context"
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

// completeCSV adds to the hand-written base the fields that follow from the options, the API and the other manifests.
func (m manifests) completeCSV(root string, o Options, images []RelatedImage) (*yaml.RNode, error) {
	// The file is read directly, because kustomize would drop its comments.
	csv, err := yaml.ReadFile(filepath.Join(root, Base))
	if err != nil {
		return nil, err
	}
	csv.YNode().Content[0].HeadComment = "" // The base's first comment is wrong in a generated file.
	picture, pictureErr := icon(root)
	examples, examplesErr := m.examples(root)
	install, installErr := m.install()
	spec, status, descriptorsErr := descriptors(root)
	if err := errors.Join(pictureErr, examplesErr, installErr, descriptorsErr); err != nil {
		return nil, err
	}
	disconnected := !slices.ContainsFunc(images, func(i RelatedImage) bool { return !strings.Contains(i.Image, "@") })
	edits := []yaml.Filter{
		set(Name(o.Version), "metadata", "name"),
		set(o.Version, "spec", "version"),
		set(string(examples), "metadata", "annotations", "alm-examples"),
		set(images[0].Image, "metadata", "annotations", "containerImage"),
		set(strconv.FormatBool(disconnected), "metadata", "annotations", "features.operators.openshift.io/disconnected"),
		set(picture, "spec", "icon", "[mediatype=image/svg+xml]", "base64data"),
		set(spec, owned("0", "specDescriptors")...), // for Memcached, the first API in the base
		set(status, owned("0", "statusDescriptors")...),
	}
	for i, crd := range m["CustomResourceDefinition"] { // the CRDs have the same order as in the base
		n := strconv.Itoa(i)
		edits = append(edits,
			set(crd.GetName(), owned(n, "name")...),
			set(Field(crd, "spec", "names", "kind").Value, owned(n, "kind")...),
			set(Field(crd, "spec", "versions", "0", "name").Value, owned(n, "version")...))
	}
	if o.SkipRange != "" {
		edits = append(edits, set(o.SkipRange, "metadata", "annotations", skipRange))
	}
	if o.Replaces != "" {
		edits = append(edits, set(Name(o.Replaces), "spec", "replaces"))
	}
	edits = append(edits, install...)
	return csv, csv.PipeE(append(edits, set(images, "spec", "relatedImages"))...)
}

// owned returns the path of a field of an API that the operator serves. n is the position of the API.
func owned(n, field string) []string {
	return []string{"spec", "customresourcedefinitions", "owned", n, field}
}

// examples returns the custom resources that a console offers as examples: the samples of the kustomization, a
// Memcached with slots, and a snapshot. The last two are not in the kustomization, because an installation by Argo CD
// begins with its samples.
func (m manifests) examples(root string) ([]byte, error) {
	slots, err := yaml.ReadFile(filepath.Join(root, slotsSample))
	if err != nil {
		return nil, err
	}
	both, err := os.ReadFile(filepath.Join(root, snapshotSample))
	if err != nil {
		return nil, err
	}
	_, last, _ := strings.Cut(string(both), "\n---\n") // The file's first document is a Memcached.
	snapshot, err := yaml.Parse(last)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", snapshotSample, err)
	}
	return json.MarshalIndent(append(slices.Clone(m[sample]), slots, snapshot), "", "  ")
}

// set returns a filter that writes a value to a path, whose last field may be new. It writes a yaml.Node as it is,
// because Encode would drop the comments in it.
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

// Field returns the YAML node at a path. If the path does not exist, it returns an empty node, which no document has,
// and which is written as null.
func Field(object *yaml.RNode, path ...string) *yaml.Node {
	node, err := object.Pipe(yaml.Lookup(path...))
	if err != nil || node == nil {
		return &yaml.Node{}
	}
	return node.YNode()
}

// icon returns the drawing next to the base, encoded as base64. OperatorHub shows square icons only.
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

// install returns the part from which OLM itself creates objects: the Deployment, and the roles of the Deployment's
// ServiceAccount.
func (m manifests) install() ([]yaml.Filter, error) {
	operator := m.one("Deployment")
	rules, err := m.permissions()
	text := render("install.yaml", map[string]any{
		"Account": m.one("ServiceAccount").GetName(), "Deployment": operator.GetName(),
	})
	return []yaml.Filter{
		set(yaml.MustParse(text).YNode(), "spec", "install"),
		set(rules["permissions"], "spec", "install", "spec", "permissions", "0", "rules"),
		set(rules["clusterPermissions"], "spec", "install", "spec", "clusterPermissions", "0", "rules"),
		set(Field(operator, "metadata", "labels"), "spec", "install", "spec", "deployments", "0", "label"),
		set(Field(operator, "spec"), "spec", "install", "spec", "deployments", "0", "spec"),
	}, err
}

const (
	manager       = "manager"
	relatedPrefix = "RELATED_IMAGE_"

	// watchNamespace is a variable with the value of the annotation in which OLM writes the namespaces to serve. An empty
	// value means all namespaces.
	watchNamespace = `name: WATCH_NAMESPACE
valueFrom:
  fieldRef:
    fieldPath: metadata.annotations['olm.targetNamespaces']
`
)

// completeDeployment writes this version's images into the Deployment, makes OLM choose the namespaces to serve, and
// returns the images.
func (m manifests) completeDeployment(ctx context.Context, o Options) ([]RelatedImage, error) {
	deployment := m.one("Deployment")
	container, err := deployment.Pipe(yaml.Lookup("spec", "template", "spec", "containers", "[name="+manager+"]"))
	if err != nil {
		return nil, err
	}
	if container == nil {
		return nil, fmt.Errorf("deployment %s has no container %s", deployment.GetName(), manager)
	}
	images, err := setImages(ctx, container, o)
	if err != nil {
		return nil, err
	}
	watch := yaml.Append(yaml.MustParse(watchNamespace).YNode())
	if err := container.PipeE(yaml.LookupCreate(yaml.SequenceNode, "env"), watch); err != nil || o.PullSecret == "" {
		return images, err
	}
	secret := yaml.NewMapRNode(&map[string]string{"name": o.PullSecret}).YNode()
	return images, deployment.PipeE(yaml.LookupCreate(yaml.SequenceNode, "spec", "template", "spec", "imagePullSecrets"),
		yaml.ElementSetter{Element: secret, Keys: []string{"name"}, Values: []string{o.PullSecret}})
}

// setImages replaces the image of the container, and the images that its environment names, by the images in the
// options. It returns the new images in this order.
func setImages(ctx context.Context, container *yaml.RNode, o Options) (images []RelatedImage, err error) {
	names, refs := []string{manager}, map[string]*yaml.Node{manager: Field(container, "image")}
	for _, node := range Field(container, "env").Content {
		variable := yaml.NewRNode(node)
		if name, found := strings.CutPrefix(Field(variable, "name").Value, relatedPrefix); found {
			name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
			names, refs[name] = append(names, name), Field(variable, "value")
		}
	}
	for name, chosen := range o.byName() {
		if refs[name] == nil {
			return nil, fmt.Errorf("container %s names no image %s in its environment: set %s%s in operator/config/manager",
				manager, name, relatedPrefix, strings.ToUpper(name))
		}
		refs[name].Value = cmp.Or(*chosen, refs[name].Value)
	}
	for _, name := range names {
		ref := refs[name]
		if err := ValidateImage(name+"-image", ref.Value); err != nil {
			return nil, err
		}
		if o.Digest != nil {
			if ref.Value, err = o.Digest(ctx, ref.Value); err != nil {
				return nil, err
			}
		}
		images = append(images, RelatedImage{name, ref.Value})
	}
	return images, nil
}
