package bundle

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	manager        = "manager"
	relatedPrefix  = "RELATED_IMAGE_"
	watchNamespace = "WATCH_NAMESPACE"

	// targetNamespaces is the annotation by which OLM tells an operator's Pods which namespaces to serve. It is
	// empty for all of them.
	targetNamespaces = "metadata.annotations['olm.targetNamespaces']"
)

// image is one that the operator needs, by a name of ours.
type image struct{ name, ref string }

// setDeployment fits the Deployment to OLM: the images of this version, images by digest where that is asked for, and
// the namespaces to serve from the annotation that OLM sets.
func (m *manifests) setDeployment(ctx context.Context, o Options) error {
	container, err := m.managerContainer()
	if err != nil {
		return err
	}
	if err := container.PipeE(yaml.SetField("image", yaml.NewStringRNode(o.Image))); err != nil {
		return err
	}
	if err := setImages(container, o); err != nil {
		return err
	}
	if err := pinImages(ctx, container, o); err != nil {
		return err
	}
	fromOLM := mapping("fieldRef", mapping("fieldPath", scalar(targetNamespaces)))
	env := mapping("name", scalar(watchNamespace), "valueFrom", fromOLM)
	if err := container.PipeE(yaml.LookupCreate(yaml.SequenceNode, "env"), yaml.Append(env)); err != nil {
		return err
	}
	if o.PullSecret == "" {
		return nil
	}
	secret := yaml.ElementSetter{
		Element: mapping("name", scalar(o.PullSecret)), Keys: []string{"name"}, Values: []string{o.PullSecret},
	}
	return m.deployment.PipeE(
		yaml.LookupCreate(yaml.SequenceNode, "spec", "template", "spec", "imagePullSecrets"), secret)
}

func (m *manifests) managerContainer() (*yaml.RNode, error) {
	container, err := m.deployment.Pipe(yaml.Lookup("spec", "template", "spec", "containers", "[name="+manager+"]"))
	if err != nil {
		return nil, err
	}
	if container == nil {
		return nil, fmt.Errorf("deployment %s has no container %s: OLM's tools know the operator by that name",
			m.deployment.GetName(), manager)
	}
	return container, nil
}

// setImages names the images of caches that the options name.
func setImages(container *yaml.RNode, o Options) error {
	named := map[string]string{"agent": o.AgentImage, "memcached": o.MemcachedImage}
	return eachImage(container, func(node *yaml.Node, name string) error {
		node.Value = cmp.Or(named[name], node.Value)
		return nil
	})
}

// pinImages replaces each image by its digest, where there is somebody to ask for it.
func pinImages(ctx context.Context, container *yaml.RNode, o Options) error {
	if o.Digest == nil {
		return nil
	}
	return eachImage(container, func(node *yaml.Node, _ string) error {
		pinned, err := o.Digest(ctx, node.Value)
		node.Value = pinned
		return err
	})
}

// relatedImages lists what a mirror must hold.
func relatedImages(container *yaml.RNode) (images []image, err error) {
	err = eachImage(container, func(node *yaml.Node, name string) error {
		images = append(images, image{name, node.Value})
		return nil
	})
	return images, err
}

// eachImage visits the container's own image and those that its environment names.
func eachImage(container *yaml.RNode, visit func(node *yaml.Node, name string) error) error {
	own, err := container.Pipe(yaml.Lookup("image"))
	if err != nil {
		return err
	}
	if err := visit(own.YNode(), manager); err != nil {
		return err
	}
	env, err := container.Pipe(yaml.Lookup("env"))
	if err != nil || env == nil {
		return err
	}
	return env.VisitElements(func(variable *yaml.RNode) error {
		name, found := strings.CutPrefix(variable.Field("name").Value.YNode().Value, relatedPrefix)
		value := variable.Field("value")
		if !found || value == nil {
			return nil
		}
		return visit(value.Value.YNode(), strings.ReplaceAll(lower(name), "_", "-"))
	})
}
