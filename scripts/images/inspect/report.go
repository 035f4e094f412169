package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Image is an image that the manifests name, with the registry's description of it.
type Image struct {
	Name, Reference string
	oci.Description

	promises []Promise
	err      error
}

// Report is the comparison of all images.
type Report []*Image

// Compare describes every image. Instead has the references that replace those of the manifests, by name.
func Compare(
	promises []Promise, instead map[string]string, describe func(ref string) (oci.Description, error),
) (r Report) {
	for _, promise := range promises {
		reference := cmp.Or(instead[promise.Name], promise.Reference)
		i := slices.IndexFunc(r, func(i *Image) bool { return i.Name == promise.Name && i.Reference == reference })
		if i < 0 {
			i = len(r)
			r = append(r, &Image{Name: promise.Name, Reference: reference})
		}
		r[i].promises = append(r[i].promises, promise)
	}
	for _, image := range r {
		image.Description, image.err = describe(image.Reference)
	}
	return r
}

// promised are the architectures that the manifests name for the image.
func (i *Image) promised() (all []string) {
	for _, promise := range i.promises {
		all = append(all, promise.Architectures...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Err reports the images that were not read, and what the manifests promise and an image does not have.
func (r Report) Err() error {
	var errs []error
	for _, image := range r {
		errs = append(errs, image.problems()...)
	}
	return errors.Join(errs...)
}

// WriteText prints a line for each image, and the platforms that all support.
func (r Report) WriteText(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tREFERENCE\tPROMISED\tPLATFORMS")
	var inAll []string
	unread := false
	for i, image := range r {
		if i == 0 {
			inAll = slices.Clone(image.Platforms)
		}
		platforms := strings.Join(image.Platforms, ",")
		if image.err != nil {
			platforms, unread = "unknown", true
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", image.Name, image.Reference, strings.Join(image.promised(), ","), platforms)
		inAll = slices.DeleteFunc(inAll, func(p string) bool { return !slices.Contains(image.Platforms, p) })
	}
	text := cmp.Or(strings.Join(inAll, ", "), "none")
	if unread {
		text = "unknown, as not every image was read"
	}
	fmt.Fprintln(table, "\nIn all images:", text)
	return table.Flush()
}

// problems lists why the image was not read, or the architectures that are promised for it and that it does not have.
func (i *Image) problems() (problems []error) {
	if i.err != nil {
		return []error{fmt.Errorf("image %s: %w: %s", i.Name, i.err, i.fix())}
	}
	single := ""
	if !i.Index {
		single = fmt.Sprintf(" (it is one image, of %s, and no index)", i.Platforms[0])
	}
	for _, architecture := range i.promised() {
		supported := slices.ContainsFunc(i.Platforms, func(platform string) bool {
			return strings.HasPrefix(platform+"/", "linux/"+architecture+"/") // it may have a variant
		})
		if !supported {
			problems = append(problems, fmt.Errorf(
				"image %s: %s has no linux/%s%s, which is promised by %s: %s, or remove %s there",
				i.Name, i.Reference, architecture, single, i.places(architecture), i.fix(), architecture))
		}
	}
	return problems
}

// places lists the fields that promise an architecture, with their sources.
func (i *Image) places(architecture string) string {
	var places, field string
	for _, promise := range i.promises {
		switch {
		case !slices.Contains(promise.Architectures, architecture):
			continue
		case promise.Field == field:
			places += ", " + promise.Source
		default:
			places += " and " + promise.Field + " in " + promise.Source
		}
		field = promise.Field
	}
	return strings.TrimPrefix(places, " and ")
}

// fix names the command or the edit that provides the promised platforms.
func (i *Image) fix() string {
	switch variable := map[string]string{Operator: "IMG", Agent: "AGENT_IMG"}[i.Name]; {
	case variable != "":
		return fmt.Sprintf("push it by make image IMAGE=%s %s=%s PLATFORMS=linux/%s",
			i.Name, variable, i.Reference, strings.Join(i.promised(), ",linux/"))
	case i.Name == Memcached:
		return "name another by --memcached-image, such as one in your own registry"
	}
	return "name an image in the manifests that supports " + strings.Join(i.promised(), ", ")
}
