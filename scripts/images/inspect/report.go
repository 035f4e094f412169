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
	Name      string `json:"name"`
	Reference string `json:"reference"`
	oci.Description
	Promised []string `json:"promised"`
	Error    string   `json:"error,omitempty"`

	promises []Promise
}

// Report is the comparison of all images.
type Report struct {
	Images   []*Image  `json:"images"`
	InAll    []string  `json:"inAll"` // the platforms that all images support
	Promises []Promise `json:"promises"`
	Problems []string  `json:"problems"`
}

// Compare describes every image, and lists what the manifests promise and the image lacks. Instead has the references
// that replace those of the manifests, by name.
func Compare(
	promises []Promise, instead map[string]string, describe func(ref string) (oci.Description, error),
) *Report {
	r := &Report{Promises: promises, Problems: []string{}}
	for _, promise := range promises {
		promise.Reference = cmp.Or(instead[promise.Name], promise.Reference)
		r.add(promise)
	}
	for i, image := range r.Images {
		var err error
		if image.Description, err = describe(image.Reference); err != nil {
			image.Error = err.Error()
		}
		r.Problems = append(r.Problems, image.problems()...)
		if i == 0 {
			r.InAll = image.platforms()
		}
		r.InAll = slices.DeleteFunc(r.InAll, func(platform string) bool {
			return !slices.Contains(image.platforms(), platform)
		})
	}
	return r
}

func (r *Report) add(promise Promise) {
	i := slices.IndexFunc(r.Images, func(image *Image) bool {
		return image.Name == promise.Name && image.Reference == promise.Reference
	})
	if i < 0 {
		i = len(r.Images)
		r.Images = append(r.Images, &Image{Name: promise.Name, Reference: promise.Reference})
	}
	image := r.Images[i]
	image.promises = append(image.promises, promise)
	image.Promised = append(image.Promised, promise.Architectures...)
	slices.Sort(image.Promised)
	image.Promised = slices.Compact(image.Promised)
}

// Err joins all problems.
func (r *Report) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(r.Problems, "\n"))
}

// WriteText prints a line for each image, and the platforms that all support.
func (r *Report) WriteText(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tREFERENCE\tPROMISED\tPLATFORMS")
	inAll := cmp.Or(strings.Join(r.InAll, ", "), "none")
	for _, image := range r.Images {
		platforms := strings.Join(image.platforms(), ",")
		if image.Error != "" {
			platforms, inAll = "unknown", "unknown, as not every image was read"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", image.Name, image.Reference, strings.Join(image.Promised, ","), platforms)
	}
	fmt.Fprintln(table, "\nIn all images:", inAll)
	return table.Flush()
}

func (i *Image) platforms() []string {
	var platforms []string
	for _, manifest := range i.Platforms {
		platforms = append(platforms, manifest.Platform)
	}
	return platforms
}

// problems lists why the image was not read, or the architectures that are promised for it and that it lacks.
func (i *Image) problems() []string {
	if i.Error != "" {
		return []string{fmt.Sprintf("image %s: %s: %s", i.Name, i.Error, i.fix())}
	}
	single := ""
	if !i.Index {
		single = fmt.Sprintf(" (it is one image, of %s, and no index)", i.Platforms[0].Platform)
	}
	var problems []string
	for _, architecture := range i.Promised {
		supported := slices.ContainsFunc(i.platforms(), func(platform string) bool {
			return strings.HasPrefix(platform+"/", "linux/"+architecture+"/") // it may have a variant
		})
		if !supported {
			problems = append(problems, fmt.Sprintf(
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
	variable := map[string]string{Operator: "IMG", Agent: "AGENT_IMG"}[i.Name]
	switch {
	case variable != "":
		return fmt.Sprintf("push it by make image IMAGE=%s %s=%s PLATFORMS=linux/%s",
			i.Name, variable, i.Reference, strings.Join(i.Promised, ",linux/"))
	case i.Name == Memcached:
		return "name another by --memcached-image, such as one in your own registry"
	default:
		return "name an image in the manifests that supports " + strings.Join(i.Promised, ", ")
	}
}
