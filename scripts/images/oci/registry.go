package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrMissing is wrapped by the error about an image that the registry does not have.
var ErrMissing = errors.New("the registry does not have")

// remoteOptions returns options that authenticate with the user's credentials, such as those of docker login.
func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithTransport(http.DefaultTransport),
	}
}

// NewRegistry returns the handler of a registry, which stores the layers of images in the folder blobs.
func NewRegistry(blobs string, out io.Writer) (http.Handler, error) {
	return registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.WithReferrersSupport(true),
		registry.Logger(log.New(out, "", log.LstdFlags)),
	), os.MkdirAll(blobs, 0o755)
}

// Digest asks the registry for an image, and returns its reference by digest.
func Digest(ctx context.Context, ref string) (string, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "", err
	}
	descriptor, err := remote.Head(parsed, remoteOptions(ctx)...)
	if err != nil {
		return "", explain(ref, err)
	}
	return byDigest(ref, descriptor.Digest)
}

// byDigest returns a reference by digest. The registry docker.io keeps its name, which the library would change to
// index.docker.io.
func byDigest(ref string, digest v1.Hash) (string, error) {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return "", err
	}
	return named.Name() + "@" + digest.String(), nil
}

// Description is what a registry reports about a reference.
type Description struct {
	Digest    string
	Index     bool     // false: a single image for one platform
	Platforms []string // sorted, as in linux/arm64
}

// Describe asks the registry which platforms an image supports.
func Describe(ctx context.Context, ref string) (d Description, err error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return d, err
	}
	found, err := remote.Get(parsed, remoteOptions(ctx)...)
	if err != nil {
		return d, explain(ref, err)
	}
	d = Description{Digest: found.Digest.String(), Index: found.MediaType.IsIndex()}
	if d.Platforms, err = platformsOf(found); err != nil {
		return d, explain(ref, err)
	}
	slices.Sort(d.Platforms)
	return d, nil
}

// platformsOf reads the config of an image, or the entries of an index. It leaves out attachments, such as
// attestations, whose platform is "unknown".
func platformsOf(found *remote.Descriptor) (platforms []string, err error) {
	if !found.MediaType.IsIndex() {
		image, err := found.Image()
		if err != nil {
			return nil, err
		}
		config, err := image.ConfigFile()
		if err != nil || config.Platform() == nil {
			return nil, err
		}
		return []string{config.Platform().String()}, nil
	}
	list, err := v1.ParseIndexManifest(bytes.NewReader(found.Manifest))
	if err != nil {
		return nil, err
	}
	for _, entry := range list.Manifests {
		if entry.Platform != nil && entry.Platform.OS != "unknown" {
			platforms = append(platforms, entry.Platform.String())
		}
	}
	return platforms, nil
}

// explain returns the error of a registry, with the error's cause and what the user can do about it.
func explain(ref string, err error) error {
	host := ref
	if named, err := reference.ParseNormalizedNamed(ref); err == nil {
		host = reference.Domain(named)
	}
	var answer *transport.Error
	if !errors.As(err, &answer) {
		return fmt.Errorf("the registry %s can't be reached for %s: %w", host, ref, err)
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("%w %s", ErrMissing, ref)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the registry %s does not show %s: "+
			"log in by docker login or podman login, and check the name: %w", host, ref, err)
	default:
		return fmt.Errorf("ask the registry for %s: %w", ref, err)
	}
}
