package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrMissing is in the error of an image that the registry does not have.
var ErrMissing = errors.New("the registry does not have")

// remoteOptions authenticate by the user's own configuration.
func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithTransport(http.DefaultTransport),
	}
}

// Digest asks the registry for an image, and returns its reference by digest.
func Digest(ctx context.Context, ref string, opts ...name.Option) (string, error) {
	parsed, err := name.ParseReference(ref, opts...)
	if err != nil {
		return "", err
	}
	descriptor, err := remote.Head(parsed, remoteOptions(ctx)...)
	if err != nil {
		return "", explain(ref, err)
	}
	// Not parsed.Name(): docker.io/library/x would become index.docker.io/library/x.
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return "", err
	}
	return reference.TrimNamed(named).Name() + "@" + descriptor.Digest.String(), nil
}

// Description is what a registry has under a reference.
type Description struct {
	Digest    string     `json:"digest"`
	Index     bool       `json:"index"` // false: one image, of one platform
	Platforms []Manifest `json:"platforms"`
}

// Manifest is the image of a platform.
type Manifest struct {
	Platform string `json:"platform"` // as in linux/arm64
	Digest   string `json:"digest"`
}

// Describe asks the registry which platforms an image supports.
func Describe(ctx context.Context, ref string, opts ...name.Option) (Description, error) {
	parsed, err := name.ParseReference(ref, opts...)
	if err != nil {
		return Description{}, err
	}
	found, err := remote.Get(parsed, remoteOptions(ctx)...)
	if err != nil {
		return Description{}, explain(ref, err)
	}
	d := Description{Digest: found.Digest.String(), Index: found.MediaType.IsIndex()}
	if d.Platforms, err = platformsOf(found); err != nil {
		return Description{}, explain(ref, err)
	}
	slices.SortFunc(d.Platforms, func(a, b Manifest) int { return strings.Compare(a.Platform, b.Platform) })
	return d, nil
}

// platformsOf reads the config of an image, or the entries of an index. Attachments, such as attestations, have the
// platform unknown.
func platformsOf(found *remote.Descriptor) ([]Manifest, error) {
	if !found.MediaType.IsIndex() {
		image, err := found.Image()
		if err != nil {
			return nil, err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}
		return []Manifest{{Platform: config.Platform().String(), Digest: found.Digest.String()}}, nil
	}
	list, err := v1.ParseIndexManifest(bytes.NewReader(found.Manifest))
	if err != nil {
		return nil, err
	}
	var manifests []Manifest
	for _, entry := range list.Manifests {
		if entry.Platform != nil && entry.Platform.OS != "unknown" {
			manifests = append(manifests, Manifest{Platform: entry.Platform.String(), Digest: entry.Digest.String()})
		}
	}
	return manifests, nil
}

// explain turns the error of a registry into a cause and a next step.
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
		return fmt.Errorf("the registry %s does not show %s: log in by docker login or podman login, "+
			"and look whether the name is right: %w", host, ref, err)
	default:
		return fmt.Errorf("ask the registry for %s: %w", ref, err)
	}
}
