package tree

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// fill renders the source of an Application, and adds its objects.
func (b *Builder) fill(t *Tree, app *App) {
	source, files := app.Spec.GetSource(), b.Files
	own := b.own(source)
	if own {
		files = b.Consumer.Files
	}
	if source.Directory != nil {
		files = files.directory(source.Path, source.Directory.Recurse)
	}
	switch _, found := files.Kustomization(source.Path); {
	case source.Chart != "" || source.Helm != nil || source.Plugin != nil:
		t.fault(app.Manifest.File, app.Name, "its source is a Helm chart or a plugin, so its objects can't be verified "+
			"before Argo CD renders them",
			"name a folder with a kustomization.yaml; this may list a file with the output of helm template")
		return
	case !found:
		text := fmt.Sprintf("spec.source.path %q is no folder with a kustomization.yaml", source.Path)
		t.fault(app.Manifest.File, app.Name, text, "name one, from the root of the repository")
		return
	}
	files, err := files.edited(source.Path, source.Kustomize)
	switch {
	case err != nil:
	case own:
		app.Objects, err = b.Consumer.render(files, source.Path)
	default:
		app.Objects, err = b.Cache.Render(files, source.Path)
	}
	if err != nil {
		t.fault(source.Path, app.Name, "kustomize can't build it: "+err.Error(), "try kubectl kustomize "+source.Path)
	}
}

// directory returns a copy of the files with a kustomization that lists the manifests in a folder. Argo CD itself needs
// no kustomization to apply a folder of manifests.
func (f Files) directory(dir string, recurse bool) Files {
	var k types.Kustomization
	for name := range f {
		relative, below := strings.CutPrefix(name, dir+"/")
		isManifest := slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
		if below && isManifest && (recurse || !strings.Contains(relative, "/")) {
			k.Resources = append(k.Resources, relative)
		}
	}
	slices.Sort(k.Resources)
	content, _ := yaml.Marshal(k) // It can't fail, because k has only a list of names.
	return f.With(Files{path.Join(dir, "kustomization.yaml"): content})
}

// edited returns a copy of the files in which the kustomization of a folder has the fields that Argo CD adds to it.
// Each field except images has the same form in an Application as in a kustomization.
func (f Files) edited(dir string, k *v1alpha1.ApplicationSourceKustomize) (Files, error) {
	if k == nil {
		return f, nil
	}
	others := k.DeepCopy()
	others.Images = nil
	content, err := yaml.Marshal(others)
	if err != nil {
		return nil, err
	}
	additions := types.Kustomization{Images: imageEntries(k.Images)}
	if err := yaml.UnmarshalStrict(content, &additions); err != nil {
		return nil, fmt.Errorf("spec.source.kustomize has a field that can't be verified: %w", err)
	}
	return f.appended(dir, additions)
}
