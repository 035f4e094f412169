package cut

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// agree reads back what was written, each room in the way in which its visitors read it.
func agree(dir string, f *facts, m *made) error {
	errs := []error{agreeOverlays(dir, f.image)}
	s, err := values.Read(dir)
	if err != nil {
		return err
	}
	errs = append(errs,
		differs(values.Path, s.OperatorImage, f.image), differs(values.Path, s.CatalogImage, m.catalog))
	version, image, err := current(dir)
	errs = append(errs, err, differs(makefile, version, f.version.String()), differs(managerFile, image, f.image))
	c, err := catalog.Load(filepath.Join(dir, bundle.Dir))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.Bundles, func(b *catalog.Bundle) bool { return b.Name == bundle.Name(version) })
	if i < 0 {
		return fmt.Errorf("the catalog does not list %s", bundle.Name(version))
	}
	errs = append(errs, differs(catalog.Path, c.Bundles[i].Image, m.bundle))
	_, err = os.Stat(filepath.Join(dir, released, version+".yaml"))
	_, templatesErr := os.Stat(filepath.Join(dir, releasedTemplates(version), "deployment"))
	return errors.Join(append(errs, err, templatesErr)...)
}

func differs(where, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s has %q, want %q", where, got, want)
}

func agreeOverlays(dir, image string) error {
	var errs []error
	for _, pattern := range []string{"overlays/*", "gitops/operator/direct/*"} {
		overlays, err := filepath.Glob(filepath.Join(dir, pattern, "kustomization.yaml"))
		if err != nil {
			return err
		}
		for _, overlay := range overlays {
			got, err := builtImage(filepath.Dir(overlay))
			errs = append(errs, err, differs(filepath.Base(filepath.Dir(overlay)), got, image))
		}
	}
	return errors.Join(errs...)
}

// builtImage is the image of the manager in a kustomize build.
func builtImage(dir string) (string, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return "", fmt.Errorf("kustomize cannot build %s: %w", dir, err)
	}
	for _, resource := range built.Resources() {
		if resource.GetKind() != "Deployment" {
			continue
		}
		return resource.GetString("spec.template.spec.containers.[name=manager].image")
	}
	return "", fmt.Errorf("%s builds to no Deployment", dir)
}
