package verify

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// settings: none is an example once the repository is somebody's own; until then nobody follows it.
func (r *run) settings() error {
	settings, err := r.options.Files.Settings()
	if err != nil {
		return err
	}
	examples, own := settings.Placeholders()
	if len(examples) > 0 {
		p := Problem{
			Level: Warning, Rule: "placeholder", File: repo.SettingsFile,
			Text:   "there are still examples: " + strings.Join(examples, ", "),
			Remedy: "run make gitops-init REPO=... REVISION=... REGISTRY=...",
		}
		if len(own) > 0 {
			p.Text += ", beside your own " + strings.Join(own, ", ")
		}
		// A fork or a release names its images in the tree; who follows the tree from Git names the repository first.
		if slices.Contains(own, "repoURL") || r.options.Strict {
			p.Level = Error
		}
		r.add(p)
	}
	text, level := catalogFaults(settings.CatalogImage)
	if level == Warning && r.options.Strict {
		level = Error
	}
	if text != "" {
		r.add(Problem{
			Level: level, Rule: "image", File: repo.SettingsFile, Text: text,
			Remedy: "name the digest that make catalog-push prints, by make gitops-init CATALOG_IMAGE=...",
		})
	}
	return nil
}

// sources: each is pinned and listed, and what the list says is so.
func (r *run) sources() {
	used := map[string]bool{}
	for _, remote := range r.builder.Remotes {
		used[remote.URL] = true
		r.source(remote)
	}
	for _, address := range slices.Sorted(maps.Keys(r.builder.Catalog.Releases)) {
		if !used[address] {
			r.addSource(source.File, "lists "+address+", which no kustomization names", writeSources)
		}
	}
}

const writeSources = "write it anew by: go -C scripts/gitops run . sources --sources fetch --write"

func (r *run) addSource(file, text, remedy string) {
	r.add(Problem{Level: Error, Rule: "source", File: file, Text: text, Remedy: remedy})
}

func (r *run) source(remote source.Remote) {
	if text := source.Unpinned(remote.URL); text != "" {
		r.addSource(remote.File, fmt.Sprintf("%s is not pinned: %s", remote.URL, text), "name a version or a commit")
	}
	if err := r.builder.Failed[remote.URL]; err != nil {
		r.addSource(remote.File, fmt.Sprintf("%s can't be had: %v", remote.URL, err), writeSources)
		return
	}
	if r.options.Sources == tree.Skip {
		return
	}
	objects, err := source.Describe(r.builder.Contents[remote.URL])
	if err != nil {
		r.addSource(remote.File, fmt.Sprintf("%s: %v", remote.URL, err), "name a URL of Kubernetes manifests")
		return
	}
	if diff := cmp.Diff(r.builder.Catalog.Releases[remote.URL], objects); diff != "" {
		r.addSource(source.File, fmt.Sprintf("%s holds something else than is listed (-listed +held): %s", remote.URL, diff),
			writeSources)
	}
}

const argoCDFolder = "gitops/bootstrap/argocd"

// argoCD: its settings can be read by it, are the same for both kinds of Argo CD, and track by annotation.
func (r *run) argoCD(ctx context.Context) {
	settings, err := r.builder.ArgoCD(ctx)
	if err != nil {
		r.addArgoCD(tree.Existing, err.Error(), "correct it")
		return
	}
	r.argo = settings
	if settings.Tracking != "annotation" {
		r.addArgoCD(tree.Existing, fmt.Sprintf("application.resourceTrackingMethod is %q", settings.Tracking), trackingRemedy)
	}
	for _, file := range r.options.Files.Kustomizations(argoCDFolder) {
		if strings.Contains(string(r.options.Files[file]), "kind: Kustomization") {
			r.argoCDFolder(path.Dir(file))
		}
	}
	r.health()
}

const trackingRemedy = "annotation: by label, Argo CD would prune the copies that OLM makes of an object"

func (r *run) addArgoCD(file, text, remedy string) {
	r.add(Problem{Level: Error, Rule: "argocd", File: file, Text: text, Remedy: remedy})
}

func (r *run) argoCDFolder(dir string) {
	objects, err := r.builder.Render(dir)
	if err != nil {
		r.addArgoCD(dir, "kustomize can't build it: "+err.Error(), "try kubectl kustomize "+dir)
	}
	for _, object := range objects {
		if object.GetKind() == "ArgoCD" {
			r.instance(object)
		}
		walk(object.Object, "", func(path, text string) {
			if isStub(text) {
				r.addArgoCD(object.File, fmt.Sprintf("%s %s: %s is still %q", object.GetKind(), object.GetName(), path, text),
					stubRemedy)
			}
		})
	}
}
