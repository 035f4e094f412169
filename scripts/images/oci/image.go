// Package oci builds the project's container images without Docker, with the same bytes every time, and pushes them. It
// does not use ko, because an image of ko has a base image from a registry and only one program, while the agent's
// image also needs the agent's supervisor.
package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the modification time of each file in an image. With the time of the build, each image would be different.
var epoch = time.Unix(0, 0).UTC()

// file is a file of an image's only layer, or a folder.
type file struct {
	path    string // without a leading slash; the path of a folder ends with a slash
	content []byte
	mode    int64
}

// assemble makes an image of one layer. The config names the platform, because containerd ignores an image without it.
func assemble(platform v1.Platform, config v1.Config, files []file) (v1.Image, error) {
	layer, err := layerOf(files)
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: epoch}
	base, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant,
		Created: created, Config: config, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	base = mutate.ConfigMediaType(mutate.MediaType(base, types.OCIManifestSchema1), types.OCIConfigJSON)
	return mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{CreatedBy: "memcached-operator/scripts/images", Created: created},
	})
}

func layerOf(files []file) (v1.Layer, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, f := range files {
		header := &tar.Header{
			Name: f.path, Size: int64(len(f.content)), Mode: f.mode, ModTime: epoch, Format: tar.FormatPAX,
		}
		err := archive.WriteHeader(header)
		if err == nil {
			_, err = archive.Write(f.content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

// Files makes an image that has files and no program, for each platform. Each folder has its own entry. Without an
// entry, the folder's permissions would depend on the program that unpacks the image.
func Files(labels map[string]string, content map[string]string) (v1.ImageIndex, error) {
	all := map[string]file{}
	for name, text := range content {
		all[name] = file{path: name, content: []byte(text), mode: 0o644}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			all[dir+"/"] = file{path: dir + "/", mode: 0o755}
		}
	}
	var files []file
	for _, name := range slices.Sorted(maps.Keys(all)) { // in this order, a folder comes before its content
		files = append(files, all[name])
	}
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

// Index joins the images of several platforms under one reference.
func Index(images ...v1.Image) (v1.ImageIndex, error) {
	if len(images) == 0 {
		return nil, errors.New("an index needs an image: name a platform")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: config.Platform()},
		})
	}
	return index, nil
}

// Artifact is an image or an index of images.
type Artifact interface {
	remote.Taggable
	Digest() (v1.Hash, error)
}

// Push writes an artifact to a registry and returns its reference by digest. Registries on this machine need no TLS.
func Push(ctx context.Context, content Artifact, ref string) (string, error) {
	to, err := name.ParseReference(ref)
	if err != nil {
		return "", err
	}
	if err := remote.Push(to, content, remoteOptions(ctx)...); err != nil {
		return "", fmt.Errorf("push %s: %w: log in by docker login or podman login if the registry requires it", ref, err)
	}
	digest, err := content.Digest()
	if err != nil {
		return "", err
	}
	return byDigest(ref, digest)
}
