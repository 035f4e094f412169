package verify

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// settings: once the user has set repoURL, no setting may still be an example. Before that, examples are only a
// warning, because Argo CD does not follow the repository yet.
func (r *run) settings() error {
	settings, err := r.Files.Settings()
	if err != nil {
		return err
	}
	add := func(rule string, isError bool, text, fix string) {
		level := map[bool]string{true: Error, false: Warning}[isError]
		r.add(Problem{Fault: tree.Fault{File: tree.SettingsFile, Text: text, Fix: fix}, Level: level, Rule: rule})
	}
	if examples, own := settings.Examples(); len(examples) > 0 {
		text := "these settings are still examples: " + strings.Join(examples, ", ")
		if len(own) > 0 {
			text += ", while these are not: " + strings.Join(own, ", ")
		}
		// A fork or a release has images of its registry in the tree, so only the setting repoURL shows that a user lets Argo
		// CD follow the repository.
		add("example", slices.Contains(own, "repoURL"), text, "run make gitops-init REPO=... REVISION=... REGISTRY=...")
	}
	if known := r.Files.Architectures(); !slices.Contains(known, settings["architecture"]) {
		text := fmt.Sprintf("data.architecture is %q", settings["architecture"])
		add("architecture", true, text, "choose one of "+strings.Join(known, ", "))
	}
	if text, isError := catalogFault(settings["catalogImage"]); text != "" {
		add("image", isError, text, "name the digest that make catalog-push prints, by make gitops-init CATALOG_IMAGE=...")
	}
	return nil
}

// pinned: the content of a URL that the tree names stays the same.
func (r *run) pinned(file, address string) {
	if !tree.Pinned(address) {
		r.fail("release", file, "name a version or a commit, by https://", "%s is not pinned", address)
	}
}

// releases: each release of another project is pinned, and listed in gitops/sources.json.
func (r *run) releases() {
	const rule, fetch = "release", "run go -C scripts/gitops test ./tree -run Listed -update"
	used := map[string]bool{}
	for _, remote := range r.builder.Remotes {
		used[remote.URL] = true
		r.pinned(remote.File, remote.URL)
		if remote.Err != nil {
			r.fail(rule, remote.File, fetch, "%s: %v", remote.URL, remote.Err)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(r.builder.Catalog.Releases)) {
		if !used[address] {
			r.fail(rule, tree.CatalogFile, fetch, "lists the release %s, which no kustomization names", address)
		}
	}
}

const (
	tracking   = "application.resourceTrackingMethod"
	byTracking = "annotation: with tracking by label, Argo CD would prune the copies that OLM makes of an object"
)

// verifyArgoCD: Argo CD can read its settings, and tracking is by annotation.
func (r *run) verifyArgoCD(ctx context.Context) {
	s := subject{app: &tree.App{Application: &v1alpha1.Application{}}, builder: r.builder, add: r.reporter("argocd")}
	fail := func(file, fix, format string, args ...any) { s.fail(file, "", fix, format, args...) }
	var err error
	if r.argoCD, err = r.builder.ArgoCD(ctx); err != nil {
		fail(tree.Existing, "correct it", "%s", err.Error())
		return
	}
	if r.argoCD.Tracking != "annotation" {
		fail(tree.Existing, byTracking, "%s is %q", tracking, r.argoCD.Tracking)
	}
	for _, option := range append(r.Files.Options(), "") {
		files, err := r.builder.Files.Variant(tree.Multiarch, strings.Fields(option)...)
		if err != nil {
			fail(tree.ArgoCDFolder, "restore it from Git", "%v", err)
			continue
		}
		s.builder = r.builder.With(files)
		r.folders(s, fail)
	}
}

// folders: kustomize can build the folders that users apply by hand in addition to a bootstrap, and the API server
// accepts their objects.
func (r *run) folders(s subject, fail func(file, fix, format string, args ...any)) {
	for _, file := range append(r.Files.Kustomizations(tree.ArgoCDFolder), r.Files.Kustomizations("gitops/fleet")...) {
		if !strings.Contains(string(r.Files[file]), "kind: Kustomization") {
			continue
		}
		dir := path.Dir(file)
		objects, err := s.builder.Render(dir)
		if err != nil {
			fail(dir, "try kubectl kustomize "+dir, "kustomize can't build it: %v", err)
		}
		for _, o := range objects {
			leftover(s, o)
			accepted(s, o)
		}
	}
}
