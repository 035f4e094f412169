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
func (m manifests) completeDeployment(ctx context.Context, o Options) ([]image, error) {
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
	return images, deployment.PipeE(
		yaml.LookupCreate(yaml.SequenceNode, "spec", "template", "spec", "imagePullSecrets"), secret)
}

// setImages replaces the container's image, and those in its environment, by what the options name.
func setImages(ctx context.Context, container *yaml.RNode, o Options) (images []image, err error) {
	nodes := map[string]*yaml.Node{manager: field(container, "image")}
	names := []string{manager}
	for _, variable := range field(container, "env").Content {
		name, found := strings.CutPrefix(field(yaml.NewRNode(variable), "name").Value, relatedPrefix)
		if name = strings.ReplaceAll(strings.ToLower(name), "_", "-"); found {
			nodes[name], names = field(yaml.NewRNode(variable), "value"), append(names, name)
		}
	}
	for name, chosen := range map[string]string{manager: o.Image, "agent": o.AgentImage, "memcached": o.MemcachedImage} {
		if nodes[name] == nil {
			return nil, fmt.Errorf("container %s names no image %s in its environment: set %s%s in operator/config/manager",
				manager, name, relatedPrefix, strings.ToUpper(name))
		}
		nodes[name].Value = cmp.Or(chosen, nodes[name].Value)
		if err := ValidateImage(name+"-image", nodes[name].Value); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if o.Digest != nil {
			if nodes[name].Value, err = o.Digest(ctx, nodes[name].Value); err != nil {
				return nil, err
			}
		}
		images = append(images, image{name, nodes[name].Value})
	}
	return images, nil
}
