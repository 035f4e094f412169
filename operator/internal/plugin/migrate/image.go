package migrate

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// setOfficialImage keeps an image that is not Docker's official one, such as a mirror of it.
func (r *release) setOfficialImage() {
	registry := cmp.Or(r.text("global.imageRegistry"), r.text("image.registry"))
	repository := strings.TrimPrefix(registry+"/"+r.text("image.repository"), "/")
	official := []string{"memcached", "docker.io/memcached", "library/memcached", "docker.io/library/memcached"}
	if slices.Contains(official, repository) {
		return // The operator has its own default for this image. A tag that differs from the chart's is reported.
	}
	r.spec.Image = repository
	tag := r.text("image.tag")
	if tag != "" {
		r.spec.Image += ":" + tag
	}
	number, _, _ := strings.Cut(tag, "@")
	if v, err := version.ParseGeneric(number); err == nil && v.LessThan(version.MustParseGeneric("1.6.40")) {
		r.report("image.tag %s: slots need memcached 1.6.40 or later; change the tag of spec.image", tag)
	}
}
