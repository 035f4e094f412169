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

// completeCSV adds to the hand-written base what follows from the options, the API and the other manifests.
func (m *manifests) completeCSV(root string, o Options, images []image) (*yaml.RNode, error) {
	// The file itself is read: kustomize would drop its comments.
	csv, err := yaml.ReadFile(filepath.Join(root, Base))
	if err != nil {
		return nil, err
	}
	csv.YNode().Content[0].HeadComment = "" // A generated file has a heading of its own.
	icon, err := icon(root)
	if err != nil {
		return nil, err
	}
	install, err := m.install()
	if err != nil {
		return nil, err
	}
	annotations, err := m.annotations(o, images)
	if err != nil {
		return nil, err
	}
	spec, status, err := descriptors(root)
	if err != nil {
		return nil, err
	}
	err = csv.PipeE(
		set(scalar(Name(o.Version)), "metadata", "name"),
		set(scalar(o.Version), "spec", "version"),
		set(optional(o.Replaces, Name), "spec", "replaces"),
		yaml.Tee(annotations...),
		set(scalar(icon), "spec", "icon", "[mediatype=image/svg+xml]", "base64data"),
		set(spec, append(owned, "specDescriptors")...),
		set(status, append(owned, "statusDescriptors")...),
		set(install, "spec", "install"),
		set(relatedImages(images), "spec", "relatedImages"),
	)
	return csv, err
}

func (m *manifests) annotations(o Options, images []image) ([]yaml.Filter, error) {
	examples := make([]json.RawMessage, len(m.samples))
	for i, sample := range m.samples {
		var err error
		if examples[i], err = sample.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(examples, "", "  ")
	if err != nil {
		return nil, err
	}
	list := scalar(string(text))
	list.Style = yaml.LiteralStyle
	disconnected := true
	for _, image := range images {
		disconnected = disconnected && strings.Contains(image.ref, "@")
	}
	filters := []yaml.Filter{
		set(list, "metadata", "annotations", "alm-examples"),
		yaml.Tee(yaml.SetAnnotation("containerImage", images[0].ref)),
		yaml.Tee(yaml.SetAnnotation("features.operators.openshift.io/disconnected", strconv.FormatBool(disconnected))),
	}
	if o.SkipRange != "" {
		filters = append(filters, yaml.Tee(yaml.SetAnnotation(skipRange, o.SkipRange)))
	}
	return filters, nil
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

// install holds what OLM creates itself: the Deployment, and roles for its ServiceAccount.
func (m *manifests) install() (*yaml.Node, error) {
	rules, err := m.permissions()
	if err != nil {
		return nil, err
	}
	account := scalar(m.account.GetName())
	granted := func(list string) *yaml.Node {
		return sequence(mapping("serviceAccountName", account, "rules", sequence(rules[list]...)))
	}
	deployment := mapping("name", scalar(m.deployment.GetName()), "label", field(m.deployment, "metadata", "labels"),
		"spec", field(m.deployment, "spec"))
	return mapping("strategy", scalar("deployment"), "spec", mapping("permissions", granted("permissions"),
		"clusterPermissions", granted("clusterPermissions"), "deployments", sequence(deployment))), nil
}

func relatedImages(images []image) *yaml.Node {
	list := sequence()
	for _, image := range images {
		list.Content = append(list.Content, mapping("name", scalar(image.name), "image", scalar(image.ref)))
	}
	return list
}
