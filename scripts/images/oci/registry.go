package oci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrMissing is in the error of an image that the registry does not have.
var ErrMissing = errors.New("the registry does not have")

// Digest asks the registry for an image, and returns its reference by digest. It tells of an image that the registry
// does not have.
func Digest(ctx context.Context, ref string, opts ...name.Option) (string, error) {
	parsed, err := name.ParseReference(ref, opts...)
	if err != nil {
		return "", err
	}
	descriptor, err := remote.Head(parsed, remoteOptions(ctx)...)
	if err != nil {
		return "", explain(ref, err)
	}
	// Not what the library makes of the name: docker.io/library/x would come back as index.docker.io/library/x.
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

// Describe asks the registry which platforms an image is there for.
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
	if d.Index {
		d.Platforms, err = platformsOf(found)
	} else {
		d.Platforms, err = platformOf(found)
	}
	if err != nil {
		return Description{}, explain(ref, err)
	}
	slices.SortFunc(d.Platforms, func(a, b Manifest) int {
		return strings.Compare(a.Platform, b.Platform)
	})
	return d, nil
}

// platformsOf reads an index. What builders attach to it, such as attestations, is of the platform unknown.
func platformsOf(found *remote.Descriptor) ([]Manifest, error) {
	index, err := found.ImageIndex()
	if err != nil {
		return nil, err
	}
	list, err := index.IndexManifest()
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

// platformOf reads an image that is in no index: its config says what it is for.
func platformOf(found *remote.Descriptor) ([]Manifest, error) {
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

// explain says in words why a registry did not answer with an image.
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
