// Package oci builds the project's container images without Docker, the same bytes every time, and
// pushes them.
package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the time of everything in an image: the time of a build would make each one different.
var epoch = time.Unix(0, 0).UTC()

// file is one file of an image's only layer, or a folder.
type file struct {
	path    string // without the leading slash; that of a folder ends with one
	content []byte
	mode    int64
	owner   int
}

// assemble makes an image of one layer. Without a platform in its config containerd ignores it.
func assemble(platform v1.Platform, config v1.Config, files []file) (v1.Image, error) {
	layer, err := layerOf(files)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{CreatedBy: "memcached-operator/scripts/images", Created: v1.Time{Time: epoch}},
	})
	if err != nil {
		return nil, err
	}
	configFile, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	configFile = configFile.DeepCopy()
	configFile.OS, configFile.Architecture, configFile.Variant = platform.OS, platform.Architecture, platform.Variant
	configFile.Created = v1.Time{Time: epoch}
	configFile.Config = config
	return mutate.ConfigFile(image, configFile)
}

func layerOf(files []file) (v1.Layer, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.path, Size: int64(len(f.content)), Mode: f.mode,
			Uid: f.owner, Gid: f.owner, ModTime: epoch, Format: tar.FormatPAX,
		}
		if strings.HasSuffix(f.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		if _, err := archive.Write(f.content); err != nil {
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

// Push writes an image to a registry and returns its reference by digest. Registries on this
// machine are spoken to in plain HTTP.
func Push(ctx context.Context, image v1.Image, ref string, opts ...name.Option) (string, error) {
	return push(ref, image, func(to name.Reference) error {
		return remote.Write(to, image, remoteOptions(ctx)...)
	}, opts...)
}

// push parses the reference, lets the content be written, and returns the reference by the content's digest.
func push(
	ref string, content interface{ Digest() (v1.Hash, error) }, write func(name.Reference) error, opts ...name.Option,
) (string, error) {
	to, err := name.ParseReference(ref, opts...)
	if err != nil {
		return "", err
	}
	if err := write(to); err != nil {
		return "", fmt.Errorf("push %s: %w", ref, err)
	}
	digest, err := content.Digest()
	if err != nil {
		return "", err
	}
	return to.Context().Digest(digest.String()).String(), nil
}

// remoteOptions are how registries are spoken to: with the credentials of the user's own configuration.
func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithTransport(http.DefaultTransport),
	}
}
