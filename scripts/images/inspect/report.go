package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Image is an image that the manifests name, and what the registry has of it.
type Image struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	oci.Description
	Promised []string `json:"promised"`
	Error    string   `json:"error,omitempty"`

	promises []Promise
}

// Report is what was found about all images.
type Report struct {
	Images   []*Image  `json:"images"`
	InAll    []string  `json:"inAll"` // the platforms that each image is there for
	Promises []Promise `json:"promises"`
	Problems []string  `json:"problems"`
}

// Registry tells what a registry has under a reference.
type Registry func(ctx context.Context, ref string) (oci.Description, error)

// Compare asks the registry for every image that is promised, and lists what is promised and not there. Instead names
// the images that take the place of those in the manifests.
func Compare(ctx context.Context, promises []Promise, instead map[string]string, registry Registry) *Report {
	r := &Report{Promises: promises, Problems: []string{}}
	for _, promise := range promises {
		if instead[promise.Name] != "" {
			promise.Reference = instead[promise.Name]
		}
		r.add(promise)
	}
	for _, image := range r.Images {
		var err error
		if image.Description, err = registry(ctx, image.Reference); err != nil {
			image.Error = err.Error()
			r.Problems = append(r.Problems, fmt.Sprintf("image %s: %s: %s", image.Name, image.Error, image.remedy()))
			continue
		}
		r.Problems = append(r.Problems, image.problems()...)
	}
	r.InAll = r.intersection()
	return r
}

// Err is what is wrong, in one error.
func (r *Report) Err() error {
	var errs []error
	for _, problem := range r.Problems {
		errs = append(errs, errors.New(problem))
	}
	return errors.Join(errs...)
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

// complete tells whether all images could be read.
func (r *Report) complete() bool {
	return !slices.ContainsFunc(r.Images, func(image *Image) bool { return image.Error != "" })
}

// intersection are the platforms that no image lacks.
func (r *Report) intersection() []string {
	var all []string
	for i, image := range r.Images {
		var has []string
		for _, manifest := range image.Platforms {
			has = append(has, manifest.Platform)
		}
		if i == 0 {
			all = has
		}
		all = slices.DeleteFunc(all, func(platform string) bool { return !slices.Contains(has, platform) })
	}
	return slices.Compact(all)
}

// problems lists the architectures that are promised for an image and that it is not there for.
func (i *Image) problems() []string {
	var problems []string
	for _, architecture := range i.Promised {
		if !i.runsOn(architecture) {
			problems = append(problems, fmt.Sprintf(
				"image %s: %s has no linux/%s%s, which is promised by %s: %s, or take %s out there",
				i.Name, i.Reference, architecture, i.single(), i.places(architecture), i.remedy(), architecture))
		}
	}
	return problems
}

// places are those that promise an architecture, by fields.
func (i *Image) places(architecture string) string {
	sources := map[string][]string{}
	for _, promise := range i.promises {
		if slices.Contains(promise.Architectures, architecture) {
			sources[promise.Field] = append(sources[promise.Field], promise.Source)
		}
	}
	var places []string
	for _, field := range slices.Sorted(maps.Keys(sources)) {
		places = append(places, field+" in "+strings.Join(sources[field], ", "))
	}
	return strings.Join(places, " and ")
}

func (i *Image) runsOn(architecture string) bool {
	return slices.ContainsFunc(i.Platforms, func(m oci.Manifest) bool {
		return m.Platform == "linux/"+architecture || strings.HasPrefix(m.Platform, "linux/"+architecture+"/")
	})
}

func (i *Image) single() string {
	if i.Index {
		return ""
	}
	return fmt.Sprintf(" (it is one image, of %s, and no index)", i.Platforms[0].Platform)
}

// remedy is what to do about an image that is not as promised.
func (i *Image) remedy() string {
	platforms := "linux/" + strings.Join(i.Promised, ",linux/")
	switch i.Name {
	case Operator:
		return fmt.Sprintf("push it by make image-index IMG=%s PLATFORMS=%s", i.Reference, platforms)
	case Agent:
		return fmt.Sprintf("push it by make agent-image-index AGENT_IMG=%s PLATFORMS=%s", i.Reference, platforms)
	case Memcached:
		return "name another by --memcached-image, such as one of a registry of your own"
	default:
		return "put an image into the manifests that is there for " + strings.Join(i.Promised, ", ")
	}
}
