package bundle

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	manager       = "manager"
	relatedPrefix = "RELATED_IMAGE_"

	// targetNamespaces is the annotation in which OLM writes the namespaces that the operator serves. It is empty for all.
	targetNamespaces = "metadata.annotations['olm.targetNamespaces']"
)

// image is one that the operator needs, by the name that relatedImages give it.
type image struct{ name, ref string }

// completeDeployment writes this version's images into the Deployment, has OLM choose the namespaces to serve, and
// returns the images: first the operator's own, then those that its environment names.
func (m *manifests) completeDeployment(ctx context.Context, o Options) ([]image, error) {
	container, err := m.deployment.Pipe(yaml.Lookup("spec", "template", "spec", "containers", "[name="+manager+"]"))
	if err != nil || container == nil {
		return nil, fmt.Errorf("deployment %s has no container %s (%w): operator-sdk expects that name",
			m.deployment.GetName(), manager, err)
	}
	images, err := setImages(ctx, container, o)
	if err != nil {
		return nil, err
	}
	watch := mapping("name", scalar("WATCH_NAMESPACE"), "valueFrom",
		mapping("fieldRef", mapping("fieldPath", scalar(targetNamespaces))))
	if err := container.PipeE(yaml.LookupCreate(yaml.SequenceNode, "env"), yaml.Append(watch)); err != nil {
		return nil, err
	}
	if o.PullSecret == "" {
		return images, nil
	}
	secret := yaml.ElementSetter{
		Element: mapping("name", scalar(o.PullSecret)), Keys: []string{"name"}, Values: []string{o.PullSecret},
	}
	return images, m.deployment.PipeE(
		yaml.LookupCreate(yaml.SequenceNode, "spec", "template", "spec", "imagePullSecrets"), secret)
}

// setImages replaces the container's image, and those in its environment, by what the options name.
func setImages(ctx context.Context, container *yaml.RNode, o Options) (images []image, err error) {
	flags := map[string]string{manager: "image", "agent": "agent-image", "memcached": "memcached-image"}
	chosen := map[string]string{manager: o.Image, "agent": o.AgentImage, "memcached": o.MemcachedImage}
	replace := func(name string, node *yaml.Node) error {
		node.Value = cmp.Or(chosen[name], node.Value)
		if err := ValidateImage(flags[name], node.Value); err != nil {
			return err
		}
		if o.Digest != nil {
			if node.Value, err = o.Digest(ctx, node.Value); err != nil {
				return err
			}
		}
		images = append(images, image{name, node.Value})
		delete(flags, name)
		return nil
	}
	if err := replace(manager, field(container, "image")); err != nil {
		return nil, err
	}
	env, err := container.Pipe(yaml.LookupCreate(yaml.SequenceNode, "env"))
	if err != nil {
		return nil, err
	}
	for _, variable := range env.Content() {
		name, found := strings.CutPrefix(yaml.NewRNode(variable).Field("name").Value.YNode().Value, relatedPrefix)
		value := field(yaml.NewRNode(variable), "value")
		if !found || value == nil {
			continue
		}
		if err := replace(strings.ReplaceAll(strings.ToLower(name), "_", "-"), value); err != nil {
			return nil, err
		}
	}
	for name := range flags {
		return nil, fmt.Errorf("container %s names no image %s in its environment: set %s%s in operator/config/manager",
			manager, name, relatedPrefix, strings.ToUpper(name))
	}
	return images, nil
}
