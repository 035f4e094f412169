package check

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// imageRules are for what is pulled.
var imageRules = []rule[*view]{
	{"images are well-formed", func(v *view) (broken messages) {
		for _, image := range v.usedImages() {
			if err := bundle.ValidateImage("image", image); err != nil {
				broken = append(broken, err.Error())
			}
		}
		return broken
	}},
	{"the manager is told the images of caches", func(v *view) (broken messages) {
		for _, c := range v.containers() {
			for _, name := range []string{"RELATED_IMAGE_MEMCACHED", "RELATED_IMAGE_AGENT"} {
				named := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name && e.Value != "" })
				broken.when(c.Name == "manager" && !named, "container %s has no %s", c.Name, name)
			}
		}
		return broken
	}},
	{"related images are those in use, each once", relatedImages},
	{"the image in the catalog's listing is the manager's", func(v *view) (broken messages) {
		for _, c := range v.containers() {
			broken.when(c.Name == "manager" && c.Image != v.annotation("containerImage"),
				"containerImage is %q, the manager runs %q", v.annotation("containerImage"), c.Image)
		}
		return broken
	}},
	{"disconnected is told if all images are by digest", func(v *view) messages {
		floats := func(image string) bool { return !strings.Contains(image, "@sha256:") }
		pinned := !slices.ContainsFunc(v.usedImages(), floats)
		told := v.annotation(features + "disconnected")
		return one(told != strconv.FormatBool(pinned), "%sdisconnected is %q, all images by digest: %t",
			features, told, pinned)
	}},
}

// usedImages are those of containers and those that their environment names.
func (v *view) usedImages() []string {
	used := map[string]bool{}
	for _, c := range v.containers() {
		used[c.Image] = true
		for _, variable := range c.Env {
			if strings.HasPrefix(variable.Name, "RELATED_IMAGE_") {
				used[variable.Value] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(used))
}

func relatedImages(v *view) (broken messages) {
	var listed []string
	for i, related := range v.csv.Spec.RelatedImages {
		broken.when(related.Name == "" || related.Image == "", "spec.relatedImages[%d] has no name or no image", i)
		broken.when(slices.Contains(listed, related.Image), "spec.relatedImages: %s is there twice", related.Image)
		listed = append(listed, related.Image)
	}
	used := v.usedImages()
	for _, image := range used {
		broken.when(!slices.Contains(listed, image), "spec.relatedImages lacks %s", image)
	}
	for _, image := range listed {
		broken.when(!slices.Contains(used, image), "spec.relatedImages: nothing uses %q", image)
	}
	return broken
}
