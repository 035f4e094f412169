package verify

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// architectureVariable is the operator's environment variable for the architectures of caches.
const architectureVariable = "OPERAND_ARCHITECTURES"

// images: each place that names an image has the image that the settings name for it. The Applications of a consumer
// may replace images.
func images(s subject) {
	installed := len(s.Apps) == 0
	each(func(s subject, o tree.Object) {
		for _, use := range s.uses(o) {
			installed = installed || use.installs
			if use.image != use.setting && s.builder.Consumer == nil {
				s.refuse(o, bySettings, ": the %s is %q, but in the settings it is %q", use.what, use.image, use.setting)
			}
		}
	})(s)
	if !installed {
		s.fail(s.Bootstrap, "", "gitops/apps/"+s.Method+" must name an Application that installs it",
			"no Application of this install method installs the operator, by its image or by a catalog")
	}
}

// use is an image at a place in the tree, with the image that the settings name for that place.
type use struct {
	what, image, setting string
	installs             bool // whether this is the operator's image or catalog
}

func (s subject) uses(o tree.Object) (found []use) {
	settings := s.Settings
	switch {
	case o.Source != "": // the release of another project pins its images
		return nil
	case o.Is(tree.OLM, "CatalogSource"):
		return []use{{"catalog", o.Text("spec", "image"), settings["catalogImage"], true}}
	case o.Is(tree.OLMv1, "ClusterCatalog"):
		return []use{{"catalog", o.Text("spec", "source", "image", "ref"), settings["catalogImage"], true}}
	case s.runs(o):
		tree.Walk(o.Object, "", func(_ string, value any) {
			container, _ := value.(map[string]any)
			if image, isText := container["image"].(string); isText && tree.Variables(container, tree.MemcachedVariable) != nil {
				found = append(found, use{"operator's image", image, settings["operatorImage"], true})
			}
		})
	case !s.configures(o):
		return nil
	}
	memcached, agent := tree.Variables(o.Object, tree.MemcachedVariable), tree.Variables(o.Object, tree.AgentVariable)
	snapshot := tree.Variables(o.Object, tree.SnapshotVariable)
	return append(found,
		use{"memcached image", strings.Join(memcached, ", "), settings["memcachedImage"], false},
		use{"agent's image", strings.Join(agent, ", "), settings["agentImage"], false},
		use{"image that saves caches", strings.Join(snapshot, ", "), settings["snapshotImage"], false})
}

// configures reports whether the object is the Subscription by which OLM runs the operator.
func (s subject) configures(o tree.Object) bool {
	return o.Is(tree.OLM, "Subscription") && s.builder.Installs(o)
}

// runs reports whether the object is the operator's Deployment.
func (s subject) runs(o tree.Object) bool {
	return o.Is("apps", "Deployment") && tree.Variables(o.Object, tree.MemcachedVariable) != nil
}

// newest: each image that this repository names has a version or a digest, because any other name can refer to another
// image later.
func newest(s subject, o tree.Object) {
	for _, image := range o.Images {
		if text := unpinned(image); text != "" && o.Source == "" {
			s.refuse(o, "name a version or a digest", ": the image %q %s", image, text)
		}
	}
}

func unpinned(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "is not valid: " + err.Error()
	}
	_, byDigest := named.(reference.Digested)
	tagged, byTag := named.(reference.Tagged)
	if byDigest || byTag && tagged.Tag() != "latest" {
		return ""
	}
	return "has no version or digest"
}

var zeros = regexp.MustCompile(`@sha256:0{64}$`)

// catalogFault returns what is wrong with the catalog's image in the settings, which decides the version that OLM
// installs.
func catalogFault(image string) (text string, isError bool) {
	named, err := reference.ParseNormalizedNamed(image)
	_, byDigest := named.(reference.Canonical)
	switch {
	case err != nil:
		return fmt.Sprintf("data.catalogImage %q is no image: %v", image, err), true
	case !byDigest:
		return fmt.Sprintf("data.catalogImage %q has no digest, "+
			"so OLM may install another version without a commit", image), true
	case zeros.MatchString(image):
		return fmt.Sprintf("data.catalogImage %q is an example: no image has that digest", image), false
	}
	return "", false
}

// architectures: the operator and its caches run where the settings say.
func architectures(s subject, o tree.Object) {
	var where string
	var confined, want []string
	switch {
	case s.configures(o): // By default, OLM uses the bundle's architectures: all.
		where, confined = "the node selector", confinedTo(o, "spec", "config")
	case s.runs(o):
		where, confined = "the node affinity", confinedTo(o, "spec", "template", "spec")
		want = slices.DeleteFunc(s.builder.Files.Architectures(), func(name string) bool { return name == tree.Multiarch })
	default:
		return
	}
	setting := s.Settings["architecture"]
	if setting != tree.Multiarch {
		want = []string{setting}
	}
	caches := split(strings.Join(tree.Variables(o.Object, architectureVariable), ","))
	for what, names := range map[string][]string{architectureVariable: caches, where: confined} {
		if !slices.Equal(names, want) {
			s.refuse(o, "correct gitops/operator, or the overlay of that architecture",
				": %s is %q, but with the architecture %s in the settings it has to be %q",
				what, strings.Join(names, ","), setting, strings.Join(want, ","))
		}
	}
}

const architectureLabel = "kubernetes.io/arch"

// confinedTo returns the architectures that a node selector or a required node affinity below the path names.
func confinedTo(o tree.Object, path ...string) []string {
	names := split(o.Text(append(slices.Clone(path), "nodeSelector", architectureLabel)...))
	affinity, _, _ := unstructured.NestedMap(o.Object, append(slices.Clone(path), "affinity", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution")...)
	tree.Walk(affinity, "", func(_ string, value any) {
		if fields, _ := value.(map[string]any); fields["key"] == architectureLabel && fields["operator"] == "In" {
			values, _, _ := unstructured.NestedStringSlice(fields, "values")
			names = append(names, values...)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

func split(list string) []string {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	slices.Sort(names)
	return names
}
