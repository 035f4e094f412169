// Package render builds folders by the kustomize that Argo CD runs, and tells of each object which file it is from.
package render

import (
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// Object is an object as kustomize makes it.
type Object struct {
	*unstructured.Unstructured
	// File is where it is written, from the root of the repository. Patches may have changed it since.
	File string
}

// build builds a folder, and notes which files it is made of.
func build(files repo.Files, dir string, read repo.Files) ([]Object, error) {
	traced, err := withOrigins(files, dir)
	if err != nil {
		return nil, err
	}
	system, err := traced.System()
	if err != nil {
		return nil, err
	}
	built, err := kustomize(recorder{FileSystem: system, files: files, read: read}, dir)
	if err != nil {
		return nil, err
	}
	objects := make([]Object, 0, built.Size())
	for _, res := range built.Resources() {
		object, err := convert(res, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", dir, res.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// YAML builds a folder and returns what kustomize prints.
func YAML(files repo.Files, dir string) ([]byte, error) {
	system, err := files.System()
	if err != nil {
		return nil, err
	}
	built, err := kustomize(system, dir)
	if err != nil {
		return nil, err
	}
	return built.AsYaml()
}

func kustomize(system filesys.FileSystem, dir string) (built resmap.ResMap, err error) {
	defer func() { // There are trees that kustomize dies of. Here that is a problem of the tree like others.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("kustomize panics: %v", reason)
		}
	}()
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(system, "/"+dir)
}

// withOrigins asks kustomize, in the file of the folder, to note where each object is from.
func withOrigins(files repo.Files, dir string) (repo.Files, error) {
	file, found := files.Kustomization(dir)
	if !found {
		return nil, fmt.Errorf("%s holds no kustomization.yaml", dir)
	}
	root, err := yaml.Parse(string(files[file]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	err = root.PipeE(
		yaml.LookupCreate(yaml.SequenceNode, "buildMetadata"),
		yaml.Append(yaml.NewStringRNode(types.OriginAnnotations).YNode()),
	)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	content, err := root.String()
	return files.With(repo.Files{file: []byte(content)}), err
}

func convert(res *resource.Resource, dir string) (Object, error) {
	origin, err := res.GetOrigin()
	if err != nil {
		return Object{}, err
	}
	if err := res.SetOrigin(nil); err != nil {
		return Object{}, err
	}
	content, err := res.MarshalJSON()
	if err != nil {
		return Object{}, err
	}
	object := Object{Unstructured: &unstructured.Unstructured{}}
	if origin != nil {
		object.File = path.Join(dir, origin.Path, origin.ConfiguredIn)
	}
	return object, object.UnmarshalJSON(content)
}
