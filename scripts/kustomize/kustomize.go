// Package kustomize renders kustomizations as `kustomize build` does.
package kustomize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build renders the kustomization in dir, in the order in which a client can apply the objects.
func Build(dir string) (resmap.ResMap, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist: name a directory with a kustomization.yaml, "+
			"such as overlays/amd64", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file: name its directory, %s", dir, filepath.Dir(dir))
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified // the default of the program kustomize: Namespaces and CRDs first
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize cannot build %s: %w", dir, err)
	}
	if built.Size() == 0 {
		return nil, fmt.Errorf("%s renders no objects: list some under resources: in its kustomization.yaml", dir)
	}
	return built, nil
}

// Manifest renders the kustomization in dir to text.
func Manifest(dir string) (string, error) {
	built, err := Build(dir)
	if err != nil {
		return "", err
	}
	content, err := built.AsYaml()
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return string(content), nil
}

// Objects renders the kustomization in dir to objects for the Kubernetes libraries.
func Objects(dir string) ([]*unstructured.Unstructured, error) {
	manifest, err := Manifest(dir)
	if err != nil {
		return nil, err
	}
	return utils.ReadObjects(strings.NewReader(manifest))
}
