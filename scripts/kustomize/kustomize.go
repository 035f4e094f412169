// Package kustomize renders kustomizations as `kustomize build` does.
package kustomize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build renders the kustomization in dir, in the order in which a client can apply the objects. The images have the
// effect of entries under `images:` in its kustomization.yaml.
func Build(dir string, images ...types.Image) (resmap.ResMap, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist: name a directory with a kustomization.yaml, "+
			"such as overlays/amd64", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file: name its directory, %s", dir, filepath.Dir(dir))
	}
	disk := filesys.MakeFsOnDisk()
	root, _, err := disk.CleanedAbs(dir)
	if err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified // as the program: Namespaces and CRDs first
	built, err := krusty.MakeKustomizer(options).Run(withImages{disk, root.String(), images}, dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize cannot build %s: %w", dir, err)
	}
	if built.Size() == 0 {
		return nil, fmt.Errorf("%s renders no objects: list some under resources: in its kustomization.yaml", dir)
	}
	return built, nil
}

// Objects renders the kustomization in dir to objects for the Kubernetes libraries.
func Objects(dir string, images ...types.Image) ([]*unstructured.Unstructured, error) {
	built, err := Build(dir, images...)
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, built.Size())
	for i, resource := range built.Resources() {
		content, err := resource.MarshalJSON() // kyaml's integers are of a type that Kubernetes cannot copy
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		objects[i] = &unstructured.Unstructured{}
		if err := objects[i].UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
	}
	return objects, nil
}
