package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// image is an image that the manifests name, with everything that they promise about it.
type image struct {
	name, reference string
	promises        []Promise
}

// group returns the images that the promises are about.
func group(promises []Promise) (images []image) {
	for _, p := range promises {
		i := slices.IndexFunc(images, func(i image) bool { return i.name == p.Name && i.reference == p.Reference })
		if i < 0 {
			i = len(images)
			images = append(images, image{name: p.Name, reference: p.Reference})
		}
		images[i].promises = append(images[i].promises, p)
	}
	return images
}

// Compare prints a line for each image, and the platforms that all of the images support. Its error names the images
// whose registries do not describe them, and the promised architectures that an image does not have.
func Compare(ctx context.Context, out io.Writer, promises []Promise) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tREFERENCE\tPROMISED\tPLATFORMS")
	var problems []error
	var inAll sets.Set[string]
	unread := false
	for _, image := range group(promises) {
		found, err := oci.Describe(ctx, image.reference)
		platforms := strings.Join(found.Platforms, ",")
		if err != nil {
			platforms, unread = "unknown", true
			problems = append(problems, fmt.Errorf("image %s: %w: %s", image.name, err, image.fix()))
		} else {
			problems = append(problems, image.broken(found)...)
		}
		has := sets.New(found.Platforms...)
		if inAll == nil {
			inAll = has
		}
		inAll = inAll.Intersection(has)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", image.name, image.reference, strings.Join(image.promised(), ","), platforms)
	}
	text := cmp.Or(strings.Join(sets.List(inAll), ", "), "none")
	if unread {
		text = "unknown, because not every image could be read"
	}
	fmt.Fprintln(table, "\nIn all images:", text)
	return errors.Join(append(problems, table.Flush())...)
}

// promised returns the architectures that the manifests name for the image.
func (i image) promised() []string {
	all := sets.New[string]()
	for _, promise := range i.promises {
		all.Insert(promise.Architectures...)
	}
	return sets.List(all)
}

// broken returns an error for each promised architecture that the image does not have.
func (i image) broken(found oci.Description) (problems []error) {
	single := ""
	if !found.Index {
		single = " (it is one image, and no index)"
	}
	for _, architecture := range i.promised() {
		if slices.ContainsFunc(found.Platforms, func(platform string) bool {
			return strings.HasPrefix(platform+"/", "linux/"+architecture+"/") // a platform may also have a variant
		}) {
			continue
		}
		var places []string
		for _, promise := range i.promises {
			if slices.Contains(promise.Architectures, architecture) {
				places = append(places, promise.Field+" in "+promise.Source)
			}
		}
		problems = append(problems, fmt.Errorf(
			"image %s: %s does not support linux/%s%s, which is promised by %s: %s, or remove %s there",
			i.name, i.reference, architecture, single, strings.Join(places, ", "), i.fix(), architecture))
	}
	return problems
}

// fix names the command or the edit that provides the promised platforms.
func (i image) fix() string {
	switch variable := map[string]string{Operator: "IMG", Agent: "AGENT_IMG", Snapshot: "SNAPSHOT_IMG"}[i.name]; {
	case variable != "":
		return fmt.Sprintf("push it by make image IMAGE=%s %s=%s PLATFORMS=linux/%s",
			i.name, variable, i.reference, strings.Join(i.promised(), ",linux/"))
	case i.name == Memcached:
		return "name another by --memcached-image, such as one in your own registry"
	}
	return "name an image in the manifests that supports " + strings.Join(i.promised(), ", ")
}
