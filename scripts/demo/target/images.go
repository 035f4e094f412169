package target

import "strings"

const (
	// Version is what the operator of a demo calls itself. It is below every release.
	Version = "0.0.1-demo"

	// imageTag can be no release's, so a demo overwrites none.
	imageTag = "demo"
)

// Images are the references that the demo pushes to.
type Images struct {
	Operator, Agent, Client string
	Bundle, Catalog         string // where OLM installs the operator
}

// Images returns the references, by tag.
func (o *Options) Images() Images {
	ref := func(name string) string { return o.Registry + "/" + name + ":" + imageTag }
	images := Images{
		Operator: ref("memcached-operator"), Agent: ref("memcached-agent"), Client: ref("memcached-client"),
	}
	if o.Way.ByOLM() {
		images.Bundle, images.Catalog = ref("memcached-operator-bundle"), ref("memcached-operator-catalog")
	}
	return images
}

// All returns those that there are, in the order in which they are pushed.
func (i Images) All() []string {
	refs := []string{i.Operator, i.Agent, i.Client}
	if i.Bundle != "" {
		refs = append(refs, i.Bundle, i.Catalog)
	}
	return refs
}

// ByDigest is an image by the digest that a push has returned, under the name that was pushed to: the library that
// pushes knows docker.io by another name.
func ByDigest(ref, pushed string) string {
	return ref[:strings.LastIndex(ref, ":")] + pushed[strings.LastIndex(pushed, "@"):]
}
