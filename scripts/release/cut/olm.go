package cut

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/image"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// made are the images that follow from the release.
type made struct {
	bundle  string // by digest
	catalog string
}

// stampOLM writes bundle and catalog, and finds the digests of their images.
func (r *Release) stampOLM(ctx context.Context, dir string, f *facts) (*made, error) {
	folder := filepath.Join(dir, bundle.Dir)
	options := bundle.Options{
		Version: r.Version, Image: withoutTag(f.image),
		Channels: f.channels(), DefaultChannel: "stable", Digest: pin,
	}
	if err := catalog.WriteBundle(ctx, dir, folder, options); err != nil {
		return nil, err
	}
	bundleDigest, err := image.Bundle.Digest(folder)
	if err != nil {
		return nil, err
	}
	m := &made{bundle: r.bundleImage() + "@" + bundleDigest}
	if err := catalog.AddBundle(folder, m.bundle); err != nil {
		return nil, err
	}
	catalogDigest, err := image.Catalog.Digest(folder)
	if err != nil {
		return nil, err
	}
	m.catalog = r.catalogImage() + "@" + catalogDigest
	return m, stampCatalog(dir, m.catalog)
}

// stampCatalog writes which catalog Argo CD gives to OLM.
func stampCatalog(dir, image string) error {
	return values.Edit(dir, func(s *values.Settings) { s.CatalogImage = image })
}

// channels of a version: one that comes before a release is for those who ask for it.
func (f *facts) channels() []string {
	if len(f.version.Pre) > 0 {
		return []string{"candidate"}
	}
	return []string{"stable", "candidate"}
}

// pin names an image by its digest alone. One without a digest, as memcached's may be, stays as it is.
func pin(_ context.Context, image string) (string, error) {
	if strings.Contains(image, "@") {
		return withoutTag(image), nil
	}
	return image, nil
}
