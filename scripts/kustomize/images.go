package kustomize

import (
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// withImages is a file system that adds images to the kustomization.yaml in root.
type withImages struct {
	filesys.FileSystem
	root   string
	images []types.Image
}

func (w withImages) ReadFile(path string) ([]byte, error) {
	content, err := w.FileSystem.ReadFile(path)
	isKustomization := filepath.Dir(path) == w.root &&
		slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path))
	if err != nil || !isKustomization || len(w.images) == 0 {
		return content, err
	}
	kustomization := map[string]any{}
	if err := yaml.Unmarshal(content, &kustomization); err != nil {
		return content, nil // kustomize reports what is wrong with it
	}
	images, _ := kustomization["images"].([]any)
	for _, image := range w.images {
		images = append(images, image)
	}
	kustomization["images"] = images
	return yaml.Marshal(kustomization)
}
