package cut

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// agree reads back what was written, each room in the way in which its visitors read it.
func agree(dir string, f *facts, m *made) error {
	errs := []error{agreeOverlays(dir, f), agreeBundle(dir, f)}
	s, err := values.Read(dir)
	if err != nil {
		return err
	}
	errs = append(errs,
		differs(values.Path, s.OperatorImage, f.image), differs(values.Path, s.AgentImage, f.agent),
		differs(values.Path, s.CatalogImage, m.catalog))
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

func agreeOverlays(dir string, f *facts) error {
	var errs []error
	for _, pattern := range []string{"overlays/*", "gitops/operator/direct/*"} {
		overlays, err := filepath.Glob(filepath.Join(dir, pattern, "kustomization.yaml"))
		if err != nil {
			return err
		}
		for _, overlay := range overlays {
			name := filepath.Base(filepath.Dir(overlay))
			image, agent, err := builtImages(filepath.Dir(overlay))
			errs = append(errs, err, differs(name, image, f.image), differs(name, agent, f.agent))
		}
	}
	return errors.Join(errs...)
}

// builtImages are the images of the manager and of the agent in a kustomize build.
func builtImages(dir string) (manager, agent string, err error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return "", "", fmt.Errorf("kustomize cannot build %s: %w", dir, err)
	}
	for _, resource := range built.Resources() {
		if resource.GetKind() != "Deployment" {
			continue
		}
		const container = "spec.template.spec.containers.[name=manager]."
		manager, err := resource.GetString(container + "image")
		if err != nil {
			return "", "", err
		}
		agent, err := resource.GetString(container + "env.[name=" + agentVariable + "].value")
		return manager, agent, err
	}
	return "", "", fmt.Errorf("%s builds to no Deployment", dir)
}

// agreeBundle: what a mirror is told to hold is what the release names.
func agreeBundle(dir string, f *facts) error {
	files, err := bundle.Read(filepath.Join(dir, bundle.Dir))
	if err != nil {
		return err
	}
	const name = "manifests/" + bundle.Package + ".clusterserviceversion.yaml"
	csv, err := yaml.Parse(files[name])
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	errs := []error{}
	for image, want := range map[string]string{"manager": f.image, "agent": f.agent} {
		listed, err := csv.Pipe(yaml.Lookup("spec", "relatedImages", "[name="+image+"]", "image"))
		errs = append(errs, err, differs(name+", the related image "+image, yaml.GetValue(listed), withoutTag(want)))
	}
	return errors.Join(errs...)
}
