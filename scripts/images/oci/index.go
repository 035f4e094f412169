package oci

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Architectures are those that the operator is released for.
func Architectures() []string { return []string{"amd64", "arm64", "ppc64le", "s390x"} }

// Platforms are those that the operator is released for.
func Platforms() []v1.Platform {
	var platforms []v1.Platform
	for _, architecture := range Architectures() {
		platforms = append(platforms, v1.Platform{OS: "linux", Architecture: architecture})
	}
	return platforms
}

// Files makes an image that holds files and no program. There is one for each platform, of the same layer.
func Files(labels map[string]string, content map[string]string) (v1.ImageIndex, error) {
	var files []file
	for _, name := range slices.Sorted(maps.Keys(content)) {
		files = append(files, file{path: name, content: []byte(content[name]), mode: 0o644})
	}
	files = append(folders(content), files...)
	var images []v1.Image
	for _, platform := range Platforms() {
		image, err := assemble(platform, v1.Config{Labels: labels, WorkingDir: "/"}, files)
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	return Index(images...)
}

// folders are those that files are in, the outer ones first. Without an entry of its own a folder would get its
// permissions from whoever unpacks the image.
func folders(content map[string]string) []file {
	names := map[string]bool{}
	for name := range content {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			names[dir+"/"] = true
		}
	}
	var files []file
	for _, name := range slices.Sorted(maps.Keys(names)) {
		files = append(files, file{path: name, mode: 0o755})
	}
	return files
}

// ParsePlatforms reads a list such as linux/arm64,linux/amd64. What comes back is sorted and has each platform once,
// so that an index has the same digest in whatever order its platforms were named. If supported platforms are named, it
// refuses others.
func ParsePlatforms(list []string, supported ...v1.Platform) ([]v1.Platform, error) {
	var platforms []v1.Platform
	for _, item := range list {
		platform, err := v1.ParsePlatform(item)
		if err != nil || platform.OS == "" || platform.Architecture == "" {
			return nil, fmt.Errorf("--platform %q: write a list like linux/amd64,linux/arm64", item)
		}
		if !supports(supported, *platform) {
			return nil, fmt.Errorf("--platform %q is not supported: choose from %s", item, join(supported))
		}
		platforms = append(platforms, *platform)
	}
	slices.SortFunc(platforms, func(a, b v1.Platform) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(platforms, func(a, b v1.Platform) bool { return a.Equals(b) }), nil
}

// supports is true if nothing is said of which platforms are supported.
func supports(supported []v1.Platform, platform v1.Platform) bool {
	return len(supported) == 0 || slices.ContainsFunc(supported, func(s v1.Platform) bool {
		return s.OS == platform.OS && s.Architecture == platform.Architecture
	})
}

func join(platforms []v1.Platform) string {
	var names []string
	for _, platform := range platforms {
		names = append(names, platform.String())
	}
	return strings.Join(names, ",")
}

// BuildAll builds the program for each of the platforms, as one index.
func (p Program) BuildAll(
	ctx context.Context, platforms []v1.Platform, update func(string),
) (v1.ImageIndex, error) {
	indexes, err := BuildTogether(ctx, platforms, update, p)
	if err != nil {
		return nil, err
	}
	return indexes[0], nil
}

// BuildTogether builds several programs of one folder for each of the platforms, and returns an index for each
// program. It takes less time than one after the other, and makes the same images.
func BuildTogether(
	ctx context.Context, platforms []v1.Platform, update func(string), programs ...Program,
) ([]v1.ImageIndex, error) {
	images := make([][]v1.Image, len(programs))
	for _, platform := range platforms {
		update(platform.String())
		binaries, err := compile(ctx, platform, programs...)
		if err != nil {
			return nil, err
		}
		for i, program := range programs {
			program.Platform = platform
			image, err := program.image(binaries)
			if err != nil {
				return nil, err
			}
			images[i] = append(images[i], image)
		}
	}
	var indexes []v1.ImageIndex
	for _, ofProgram := range images {
		index, err := Index(ofProgram...)
		if err != nil {
			return nil, err
		}
		indexes = append(indexes, index)
	}
	return indexes, nil
}

// Index joins the images of several platforms under one reference.
func Index(images ...v1.Image) (v1.ImageIndex, error) {
	if len(images) == 0 {
		return nil, errors.New("no platform is named, so there is no image to make")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: config.Platform()},
		})
	}
	return index, nil
}

// PushIndex writes an index, and what it lists, to a registry and returns its reference by digest.
func PushIndex(ctx context.Context, index v1.ImageIndex, ref string, opts ...name.Option) (string, error) {
	return push(ref, index, func(to name.Reference) error {
		return remote.WriteIndex(to, index, remoteOptions(ctx)...)
	}, opts...)
}
