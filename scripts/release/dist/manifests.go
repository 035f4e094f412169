package dist

import (
	"context"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// everywhere is the overlay for clusters of several architectures, whose manifest has the plain name.
const everywhere = "multiarch"

// writeManifests builds a manifest of each overlay, in the order of the program kustomize: kubectl creates one object
// after the other, and needs a namespace before what is in it.
func writeManifests(_ context.Context, c *Content) error {
	overlays, err := filepath.Glob(filepath.Join(c.Dir, "overlays/*/kustomization.yaml"))
	if err != nil {
		return err
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	for _, file := range overlays {
		dir := filepath.Dir(file)
		built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
		if err != nil {
			return fmt.Errorf("kustomize cannot build overlays/%s: %w", filepath.Base(dir), err)
		}
		content, err := built.AsYaml()
		if err != nil {
			return err
		}
		name := "install-" + filepath.Base(dir) + ".yaml"
		if filepath.Base(dir) == everywhere {
			name = "install.yaml"
		}
		if err := c.writeFile(name, content); err != nil {
			return err
		}
	}
	return nil
}
