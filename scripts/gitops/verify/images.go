package verify

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// images: what is installed is what the settings name, in each place.
func images(s subject) {
	installed := false
	for app, o := range s.Objects() {
		if o.Source != "" {
			continue // its project pins what it releases
		}
		for _, use := range s.uses(o) {
			installed = installed || use.installs
			if use.image != use.setting {
				s.fail(at(o), app.Name, fmt.Sprintf("%s: the %s is %q, in the settings it is %q", o, use.what, use.image,
					use.setting), "let the component gitops/settings write it")
			}
		}
	}
	if !installed && len(s.Apps) > 0 {
		s.fail(s.Bootstrap, "", "no Application of this way installs the operator, by its image or by a catalog",
			"gitops/apps/overlays/"+s.Way+" has to name one that does")
	}
}

// newest: no image of ours may be another tomorrow.
func newest(s subject) {
	for app, o := range s.Objects() {
		for _, image := range o.Images {
			if text := floating(image); text != "" && o.Source == "" {
				s.fail(at(o), app.Name, fmt.Sprintf("%s: the image %q %s", o, image, text), "name a version or a digest")
			}
		}
	}
}

// use is a place of an image that the settings decide.
type use struct {
	what, image, setting string
	installs             bool // the operator comes by it
}

func (s subject) uses(o tree.Object) []use {
	settings := s.Settings
	var found []use
	switch {
	case o.Is(tree.OLM, "CatalogSource"):
		found = append(found, use{"catalog", o.Text("spec", "image"), settings.CatalogImage, true})
	case o.Is(tree.OLMv1, "ClusterCatalog"):
		found = append(found, use{"catalog", o.Text("spec", "source", "image", "ref"), settings.CatalogImage, true})
	case o.Is("apps", "Deployment"):
		for _, container := range containers(o) {
			if sets(container, memcachedVariable) { // that of the operator
				image, _ := container["image"].(string)
				found = append(found, use{"operator's image", image, settings.OperatorImage, true})
			}
		}
	}
	for _, value := range s.configured(o, memcachedVariable) {
		found = append(found, use{"memcached image", value, settings.MemcachedImage, false})
	}
	for _, value := range s.configured(o, agentVariable) {
		found = append(found, use{"agent's image", value, settings.AgentImage, false})
	}
	return found
}

// floating tells why an image may be another tomorrow. It is empty where it may not.
func floating(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "is none: " + err.Error()
	}
	if _, byDigest := named.(reference.Digested); byDigest {
		return ""
	}
	if tagged, ok := named.(reference.Tagged); ok && tagged.Tag() != "latest" {
		return ""
	}
	return "is whatever is newest"
}

const (
	memcachedVariable = "RELATED_IMAGE_MEMCACHED"
	agentVariable     = "RELATED_IMAGE_AGENT"
)

var zeros = regexp.MustCompile(`@sha256:0{64}$`)

// catalogFaults tells what is wrong with the catalog in the settings, which is the version that OLM installs.
func catalogFaults(image string) (text string, level string) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return fmt.Sprintf("data.catalogImage %q is no image: %v", image, err), Error
	}
	if _, byDigest := named.(reference.Canonical); !byDigest {
		return fmt.Sprintf("data.catalogImage %q has no digest: another version may come without a commit", image), Error
	}
	if zeros.MatchString(image) {
		return fmt.Sprintf("data.catalogImage %q is an example: no image has that digest", image), Warning
	}
	return "", ""
}

// configures tells whether it is in the object how OLM runs the operator.
func (s subject) configures(o tree.Object) bool {
	return o.Is(tree.OLM, "Subscription") && s.builder.Installs(o)
}

// runs tells whether it is the operator's Deployment.
func runs(o tree.Object) bool {
	return o.Is("apps", "Deployment") && sets(o.Unstructured.Object, memcachedVariable)
}

// configured are the values of a variable of the operator. One that is left out where the operator is told is empty.
func (s subject) configured(o tree.Object, variable string) []string {
	values := variables(o.Unstructured.Object, variable)
	if len(values) == 0 && (s.configures(o) || runs(o)) {
		return []string{""}
	}
	return values
}

// containers of a Deployment.
func containers(o tree.Object) []map[string]any {
	var found []map[string]any
	collectMaps(o.Unstructured.Object, func(fields map[string]any) {
		if _, isContainer := fields["image"].(string); isContainer {
			found = append(found, fields)
		}
	})
	return found
}

func sets(container map[string]any, variable string) bool {
	return len(variables(container, variable)) > 0
}

// variables are the values of an environment variable, wherever in the object it is set.
func variables(fields map[string]any, name string) []string {
	var values []string
	collectMaps(fields, func(fields map[string]any) {
		if fields["name"] == name {
			value, _ := fields["value"].(string)
			values = append(values, strings.TrimSpace(value))
		}
	})
	return values
}

func collectMaps(value any, visit func(map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			collectMaps(item, visit)
		}
	case map[string]any:
		visit(value)
		for _, item := range value {
			collectMaps(item, visit)
		}
	}
}
