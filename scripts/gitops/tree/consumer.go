package tree

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Template is a folder with the content of a consumer's repository. It is no part of the tree.
const Template = "gitops/template"

// bootstrapFile is the file that the user of a consumer's repository applies by hand.
const bootstrapFile = "bootstrap.yaml"

// Consumed is the file of a consumer's repository that names the operator's repository.
const Consumed = "kustomization.yaml"

// Consumer is a repository that names the operator's repository by URL and ref, such as gitops/template. kustomize
// makes its Applications from those of an install method in the operator's repository. Each Application follows one of
// the two repositories.
type Consumer struct {
	Files
	URL, Method, Ref string
	// Checkout is a local copy of the operator's repository that has the ref.
	Checkout string
}

// consumed is the resource that names the operator's repository.
var consumed = regexp.MustCompile(`(?m)^\s*- (\S+)//gitops/apps/([\w.-]+)\?ref=(\S+)$`)

// Consumer returns the consumer's repository that has the files, or nil if the files are those of the operator's
// repository. The map local has, for the URL of a remote repository, the path of a local copy to read instead.
func (f Files) Consumer(local map[string]string) (*Consumer, error) {
	if f[SettingsFile] != nil {
		return nil, nil
	}
	match := consumed.FindStringSubmatch(string(f[Consumed]))
	if match == nil {
		return nil, fmt.Errorf("%s names no resource URL//gitops/apps/METHOD?ref=REF: restore the line from Git", Consumed)
	}
	c := &Consumer{Files: f, URL: match[1], Method: match[2], Ref: match[3]}
	c.Checkout = cmp.Or(local[c.URL], local[""])
	if c.Checkout == "" {
		return nil, fmt.Errorf("%s names the repository %s: "+
			"name a local checkout of that repository by --repository %s=PATH", Consumed, c.URL, c.URL)
	}
	return c, nil
}

// Builder returns a Builder of the consumer's tree. It reads the operator's repository at the ref that the consumer
// names.
func (c *Consumer) Builder() (*Builder, error) {
	upstream, err := At(c.Checkout, c.Ref)
	if err != nil {
		return nil, fmt.Errorf("%w: fetch this ref in the checkout, name another checkout of %s by --repository, or "+
			"change ?ref= in %s",
			err, c.URL, Consumed)
	}
	b, err := New(upstream, nil)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", c.URL, c.Ref, err)
	}
	b.Consumer = c
	return b, nil
}

// render builds a folder of the consumer. As in Argo CD, kustomize clones the operator's repository, but from the
// checkout. It must clone, because replacements in the operator's repository read the ref, and kustomize knows the ref
// only of a repository that it cloned.
func (c *Consumer) render(files Files, dir string) ([]Object, error) {
	temporary, err := os.MkdirTemp("", "gitops-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	if files, err = files.traced(dir); err != nil {
		return nil, err
	}
	checkout := "file://" + filepath.ToSlash(c.Checkout)
	for name, content := range files {
		text := strings.ReplaceAll(string(content), c.URL+"//", checkout+"//")
		file := filepath.Join(temporary, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return nil, err
		}
	}
	built, err := kustomize(filesys.MakeFsOnDisk(), filepath.Join(temporary, dir))
	if err != nil {
		return nil, err
	}
	return convert(built, dir, func(text string) string { return strings.ReplaceAll(text, checkout, c.URL) })
}

// bootstrap returns the objects that the user applies by hand.
func (c *Consumer) bootstrap(cache Cache) ([]Object, error) {
	const dir = "bootstrap"
	objects, err := cache.Render(Files{
		dir + "/kustomization.yaml": []byte("resources: [" + bootstrapFile + "]\n"),
		dir + "/" + bootstrapFile:   c.Files[bootstrapFile],
	}, dir)
	objects = slices.Clone(objects)
	for i := range objects {
		objects[i].File = bootstrapFile
	}
	return objects, err
}

// own reports whether an Application with this source follows the consumer's repository.
func (b *Builder) own(source v1alpha1.ApplicationSource) bool {
	return b.Consumer != nil && source.RepoURL != b.Consumer.URL
}

// settings returns the settings with which the operator's repository would install the same as the consumer. The images
// are those of the operator's repository, even if Applications of the consumer replace them.
func (c *Consumer) settings(t *Tree, upstream Settings) Settings {
	s, root := maps.Clone(upstream), t.Root.Spec.GetSource()
	s["argocdNamespace"], s["repoURL"], s["revision"] = t.Root.Namespace, root.RepoURL, root.TargetRevision
	s["architecture"] = cmp.Or(t.architecture(), s["architecture"])
	return s
}

// architecture returns the architecture that the Applications choose, by an overlay or in the operator's Subscription.
func (t *Tree) architecture() string {
	for _, app := range t.Apps {
		if dir, overlay := path.Split(app.Spec.GetSource().Path); dir == "overlays/" {
			return overlay
		}
		for _, o := range app.Objects {
			if o.Is(OLM, "Subscription") {
				return cmp.Or(o.Text("spec", "config", "nodeSelector", "kubernetes.io/arch"), Multiarch)
			}
		}
	}
	return ""
}

// split splits an image reference as kustomize does.
func split(image string) (name, tag, digest string) {
	name, digest, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		return name[:i], name[i+1:], digest
	}
	return name, "", digest
}

func imageEntries(images v1alpha1.KustomizeImages) (entries []types.Image) {
	for _, text := range images {
		name, replacement, _ := strings.Cut(string(text), "=")
		newName, tag, digest := split(cmp.Or(replacement, name))
		name, _, _ = split(name)
		entries = append(entries, types.Image{Name: name, NewName: newName, NewTag: tag, Digest: digest})
	}
	return entries
}
