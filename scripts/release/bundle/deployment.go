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

	// watchNamespace names the annotation in which OLM writes the namespaces to serve. It is empty for all.
	watchNamespace = `name: WATCH_NAMESPACE
valueFrom:
  fieldRef:
    fieldPath: metadata.annotations['olm.targetNamespaces']
`
)

// completeDeployment writes this version's images into the Deployment, has OLM choose the namespaces to serve, and
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

// setImages replaces the container's image, and those that its environment names, by what the options name. It returns
// them in this order.
func setImages(ctx context.Context, container *yaml.RNode, o Options) (images []RelatedImage, err error) {
	names, refs := []string{manager}, map[string]*yaml.Node{manager: field(container, "image")}
	for _, node := range field(container, "env").Content {
		variable := yaml.NewRNode(node)
		if name, found := strings.CutPrefix(field(variable, "name").Value, relatedPrefix); found {
			name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
			names, refs[name] = append(names, name), field(variable, "value")
		}
	}
	for name, chosen := range map[string]string{manager: o.Image, "agent": o.AgentImage, "memcached": o.MemcachedImage} {
		if refs[name] == nil {
			return nil, fmt.Errorf("container %s names no image %s in its environment: set %s%s in operator/config/manager",
				manager, name, relatedPrefix, strings.ToUpper(name))
		}
		refs[name].Value = cmp.Or(chosen, refs[name].Value)
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
