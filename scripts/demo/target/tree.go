package target

import (
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Published are the folders that go to Git, from the root of the working tree.
func Published() []string { return []string{"gitops", "overlays", "operator/config", bundle.Dir} }

// Replace puts the published folders of the working tree at root into dir, in place of those that are there.
func Replace(root, dir string) error { return ReplaceFolders(root, dir, Published()) }

// ReplaceFolders puts folders of the working tree at root into dir, in place of those that are there.
func ReplaceFolders(root, dir string, folders []string) error {
	for _, folder := range folders {
		to := filepath.Join(dir, folder)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join(root, folder))); err != nil {
			return err
		}
	}
	return nil
}

// Pushed are the images that a commit names, by digest. Those that are empty stay as they are.
type Pushed struct{ Operator, Agent, Catalog string }

// Stamp writes the settings of this demo into the tree in dir.
func (o *Options) Stamp(dir string, pushed Pushed) error {
	return values.Edit(dir, func(s *values.Settings) {
		s.RepoURL, s.Revision = o.Repo, o.Revision
		replace(&s.ArgoCDNamespace, o.ArgoCDNamespace)
		replace(&s.Architecture, o.Architecture)
		replace(&s.MemcachedImage, o.MemcachedImage)
		replace(&s.OperatorImage, pushed.Operator)
		replace(&s.AgentImage, pushed.Agent)
		replace(&s.CatalogImage, pushed.Catalog)
	})
}

func replace(value *string, by string) {
	if by != "" {
		*value = by
	}
}

// Folders of the bootstrap, from the root of the tree.
const (
	SettingsFolder = "gitops/bootstrap/argocd/existing" // of an Argo CD by its own manifests
	InstanceFolder = "gitops/bootstrap/argocd/instance" // of an Argo CD by argocd-operator
)

// RootFolder holds the root Application of the way, and the AppProjects.
func (w Way) RootFolder() string { return "gitops/bootstrap/" + string(w) }

// Build renders a folder of the tree in dir.
func Build(dir, folder string) ([]*unstructured.Unstructured, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(dir, folder))
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, resource := range built.Resources() {
		// By way of JSON, because kustomize's numbers are not those that Kubernetes' own code can copy.
		content, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
