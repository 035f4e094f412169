package emit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/image"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Renew writes bundle and catalog of the repository at root anew from their sources, with the version, the images and
// the channels that they have. The settings of gitops/ get the digest of the catalog.
func Renew(ctx context.Context, root string) error {
	dir := filepath.Join(root, bundle.Dir)
	files, err := bundle.Read(dir)
	if err != nil {
		return err
	}
	o, err := Recorded(files)
	if err != nil {
		return err
	}
	c, err := catalog.Load(dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.Bundles, func(b *catalog.Bundle) bool { return b.Name == bundle.Name(o.Version) })
	if i < 0 {
		return fmt.Errorf("%s does not list %s: run make catalog", catalog.Path, bundle.Name(o.Version))
	}
	bundleImage := c.Bundles[i].Image
	if err := Bundle(ctx, root, dir, o); err != nil {
		return err
	}
	if err := Catalog(dir, bundleImage); err != nil {
		return err
	}
	digest, err := image.Catalog.Digest(dir)
	if err != nil {
		return err
	}
	return values.Edit(root, func(s *values.Settings) {
		name, _, _ := strings.Cut(s.CatalogImage, "@")
		s.CatalogImage = name + "@" + digest
	})
}

// Recorded are the options by which a bundle was made, as the bundle itself records them. Its images stay what they
// are, also where the manifests name others: make bundle may have been given them.
func Recorded(files bundle.Files) (bundle.Options, error) {
	var csv struct {
		Metadata struct{ Annotations map[string]string }
		Spec     struct {
			Version, Replaces string
			RelatedImages     []struct{ Name, Image string }
			Install           struct {
				Spec struct {
					Deployments []struct{ Spec appsv1.DeploymentSpec }
				}
			}
		}
	}
	var metadata struct{ Annotations map[string]string }
	for name, into := range map[string]any{
		"manifests/" + bundle.Package + ".clusterserviceversion.yaml": &csv,
		"metadata/annotations.yaml":                                   &metadata,
	} {
		if err := yaml.Unmarshal([]byte(files[name]), into); err != nil {
			return bundle.Options{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	const annotation = "operators.operatorframework.io.bundle."
	o := bundle.Options{
		Version:        csv.Spec.Version,
		Image:          csv.Metadata.Annotations["containerImage"],
		Channels:       strings.Split(metadata.Annotations[annotation+"channels.v1"], ","),
		DefaultChannel: metadata.Annotations[annotation+"channel.default.v1"],
		Replaces:       strings.TrimPrefix(csv.Spec.Replaces, bundle.Package+".v"),
		SkipRange:      csv.Metadata.Annotations["olm.skipRange"],
	}
	for _, related := range csv.Spec.RelatedImages {
		switch related.Name {
		case "agent":
			o.AgentImage = related.Image
		case "memcached":
			o.MemcachedImage = related.Image
		}
	}
	for _, deployment := range csv.Spec.Install.Spec.Deployments {
		for _, secret := range deployment.Spec.Template.Spec.ImagePullSecrets {
			o.PullSecret = secret.Name
		}
	}
	return o, nil
}
