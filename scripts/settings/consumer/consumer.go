// Package consumer writes a repository that installs the operator without a fork: the repository names the operator's
// repository by URL and ref.
package consumer

import (
	"bytes"
	"cmp"
	_ "embed" // for the template
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Template is a folder with an example of such a repository, for the install method direct.
const Template = "gitops/template"

// Repository has the choices of a user for such a repository.
type Repository struct {
	values.Choices        // Repo and Revision are the new repository's, Version is the operator's.
	Method         string // an install method
	Upstream, Ref  string // the operator's repository: its URL, and a tag, a branch or a commit
}

// Write writes the repository into a new or an empty folder. It reads the template, and the Applications and the
// AppProjects of the operator's repository in root.
func (r Repository) Write(root, out string) error {
	current, err := values.Read(root)
	if err != nil {
		return err
	}
	r.Upstream, r.Ref = cmp.Or(r.Upstream, current.RepoURL), cmp.Or(r.Ref, "v"+r.Version)
	mine, err := r.Resolve(current)
	if err := errors.Join(err, r.check(root, out)); err != nil {
		return err
	}
	projects, err := r.bootstrap(root, mine)
	if err != nil {
		return err
	}
	folder := os.DirFS(filepath.Join(root, Template))
	return fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		switch text := string(content); name {
		case "bootstrap.yaml":
			content = []byte(firstLines.FindString(text) + projects)
		case "kustomization.yaml":
			content, err = r.applications(current, mine)
		default:
			content = []byte(strings.NewReplacer("-n argocd", "-n "+mine.ArgoCDNamespace,
				"managed-by: argocd", "managed-by: "+mine.ArgoCDNamespace).Replace(text))
		}
		if err != nil {
			return err
		}
		return worktree.WriteFile(filepath.Join(out, name), content, 0o644)
	})
}

func (r Repository) check(root, out string) (err error) {
	_, missing := os.Stat(filepath.Join(root, "gitops/apps", r.Method, "kustomization.yaml"))
	if missing != nil || r.Method == "base" {
		err = fmt.Errorf("--method %q: choose one of direct, olm, openshift, olm-v1", r.Method)
	}
	if strings.ContainsAny(r.Ref, " ?&") {
		err = errors.Join(err, fmt.Errorf("--ref %q: Git allows no such name: name a tag or a commit, such as v0.1.0", r.Ref))
	}
	entries, unreadable := os.ReadDir(out)
	if unreadable != nil && !errors.Is(unreadable, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("--out %q: %w", out, unreadable))
	}
	for _, entry := range entries {
		if entry.Name() != ".git" {
			return errors.Join(err, fmt.Errorf("--out %q: holds %s: name a new or an empty folder", out, entry.Name()))
		}
	}
	return errors.Join(err, values.ValidateRepo("upstream", r.Upstream))
}

// firstLines matches the comment at the beginning of a file.
var firstLines = regexp.MustCompile(`^(?:#.*\n)+`)

//go:embed kustomization.tmpl
var kustomization string

// applications returns the kustomization file that makes the Applications.
func (r Repository) applications(upstream, mine values.Settings) ([]byte, error) {
	var text bytes.Buffer
	err := template.Must(template.New("").Parse(kustomization)).Execute(&text, struct {
		Repository
		Shipped, Mine values.Settings
		Images        []string
	}{r, upstream, mine, r.images(upstream, mine)})
	return text.Bytes(), err
}

// images returns the images of the operator's repository, each with the reference of the user's copy. The reference has
// no tag and no digest if the ref has to decide which tag or digest is used.
func (r Repository) images(upstream, mine values.Settings) (images []string) {
	for _, image := range []struct{ name, new, chosen string }{
		{upstream.OperatorImage, mine.OperatorImage, ""},
		{upstream.AgentImage, mine.AgentImage, r.AgentImage},
		{upstream.SnapshotImage, mine.SnapshotImage, r.SnapshotImage},
		{upstream.CatalogImage, mine.CatalogImage, r.CatalogImage},
		{upstream.MemcachedImage, mine.MemcachedImage, r.MemcachedImage},
	} {
		if image.chosen != "" || values.Name(image.name) != values.Name(image.new) {
			images = append(images, values.Name(image.name)+"="+cmp.Or(image.chosen, values.Name(image.new)))
		}
	}
	return images
}

// samples is the name of the AppProject and of the Application for caches in the operator's repository, and caches is
// the name of both in the user's repository. cacheNamespace is the namespace of the user's caches.
const samples, caches, cacheNamespace = "memcached-samples", "memcached-caches", "caches"

// bootstrap returns the root Application and the AppProjects, which the user applies by hand.
func (r Repository) bootstrap(root string, mine values.Settings) (string, error) {
	built, err := kustomize.Build(filepath.Join(root, "gitops/bootstrap", r.Method))
	if err != nil {
		return "", err
	}
	for _, resource := range built.Resources() {
		set := func(value string, path ...string) {
			set := yaml.Set(yaml.NewStringRNode(value))
			err = errors.Join(err, resource.PipeE(yaml.LookupCreate(yaml.ScalarNode, path...), set))
		}
		set(mine.ArgoCDNamespace, "metadata", "namespace")
		repository := r.Upstream
		switch name := resource.GetName(); {
		case resource.GetKind() == "Application":
			set(mine.RepoURL, "spec", "source", "repoURL")
			set(mine.Revision, "spec", "source", "targetRevision")
			set(".", "spec", "source", "path")
			set(mine.ArgoCDNamespace, "spec", "destination", "namespace")
			continue
		case name == "memcached-root":
			repository = mine.RepoURL
			set(mine.ArgoCDNamespace, "spec", "destinations", "0", "namespace")
		case name == samples:
			repository = mine.RepoURL
			set(caches, "metadata", "name")
			set("Caches", "spec", "description")
			set(cacheNamespace, "spec", "destinations", "0", "namespace")
		}
		set(repository, "spec", "sourceRepos", "0")
	}
	content, yamlErr := built.AsYaml()
	return string(content), errors.Join(err, yamlErr)
}
