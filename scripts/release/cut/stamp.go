package cut

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	managerFile = "operator/config/manager/manager.yaml"
	makefile    = "Makefile"
)

// stamp writes the places that name a version or an image, bundle and catalog last: they are made of the others.
func (r *Release) stamp(ctx context.Context, dir string, f *facts) (*made, error) {
	for _, room := range []func(string, *facts) error{
		r.stampManifests, r.stampMakefile, r.stampSettings, stampBase, stampDocs, addAPI, addTemplates,
	} {
		if err := room(dir, f); err != nil {
			return nil, err
		}
	}
	return r.stampOLM(ctx, dir, f)
}

var versionLine = regexp.MustCompile(`(?m)^VERSION \?= (\S+)$`)

// current tells what the tree names so far.
func current(root string) (version, image string, err error) {
	text, err := os.ReadFile(filepath.Join(root, makefile))
	if err != nil {
		return "", "", err
	}
	match := versionLine.FindSubmatch(text)
	if match == nil {
		return "", "", fmt.Errorf("%s has no line VERSION ?= x.y.z", makefile)
	}
	image, err = managerImage(root)
	return string(match[1]), image, err
}

func managerImage(root string) (string, error) {
	deployment, err := yaml.ReadFile(filepath.Join(root, managerFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", managerFile, err)
	}
	image, err := deployment.Pipe(yaml.Lookup("spec", "template", "spec", "containers", "[name=manager]", "image"))
	if err != nil || image == nil {
		return "", fmt.Errorf("%s has no image of the container manager: %w", managerFile, err)
	}
	return image.YNode().Value, nil
}

// edit replaces texts in a file and leaves every other byte as it is. Each of the texts must be there.
func edit(dir, name string, pairs ...string) error {
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(content)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return fmt.Errorf("%s does not hold %q: it was changed by hand; put it back", name, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// stampManifests writes the image that the overlays and the bundle build on.
func (r *Release) stampManifests(dir string, f *facts) error {
	pairs := []string{"image: " + f.oldImage, "image: " + f.image, "value: " + f.oldAgent, "value: " + f.agent}
	if r.MemcachedImage != "" {
		old, err := values.Read(dir)
		if err != nil {
			return err
		}
		pairs = append(pairs, "value: "+old.MemcachedImage, "value: "+r.MemcachedImage)
	}
	return edit(dir, managerFile, pairs...)
}

// stampMakefile writes the defaults of make.
func (r *Release) stampMakefile(dir string, f *facts) error {
	content, err := os.ReadFile(filepath.Join(dir, makefile))
	if err != nil {
		return err
	}
	registry := regexp.MustCompile(`(?m)^REGISTRY \?= (\S+)$`).FindSubmatch(content)
	if registry == nil {
		return fmt.Errorf("%s has no line REGISTRY ?= host", makefile)
	}
	return edit(dir, makefile,
		"VERSION ?= "+f.oldVersion, "VERSION ?= "+r.Version,
		"REGISTRY ?= "+string(registry[1])+"\n", "REGISTRY ?= "+r.Registry+"\n",
	)
}

// stampSettings writes what Argo CD installs.
func (r *Release) stampSettings(dir string, f *facts) error {
	return values.Edit(dir, func(s *values.Settings) {
		s.OperatorImage, s.AgentImage = f.image, f.agent
		if r.MemcachedImage != "" {
			s.MemcachedImage = r.MemcachedImage
		}
	})
}

// stampBase writes the time of the release, which each bundle that is made of this tree has.
func stampBase(dir string, f *facts) error {
	base, err := yaml.ReadFile(filepath.Join(dir, bundle.Base))
	if err != nil {
		return fmt.Errorf("%s: %w", bundle.Base, err)
	}
	old := base.GetAnnotations()["createdAt"]
	return edit(dir, bundle.Base, `createdAt: "`+old+`"`, `createdAt: "`+f.createdAt+`"`)
}

// addAPI keeps the API as it is released: later ones must not break it.
func addAPI(dir string, f *facts) error {
	content, err := os.ReadFile(filepath.Join(dir, crdFile))
	if err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(dir, released, f.version.String()+".yaml"), content, 0o644)
}

const templates = "operator/internal/render/testdata"

// addTemplates keeps what the released operator makes of Memcacheds: later ones must make the same of them, or they
// would replace the nodes of running caches.
func addTemplates(dir string, f *facts) error {
	if err := os.RemoveAll(filepath.Join(dir, releasedTemplates(f.version.String()))); err != nil {
		return err
	}
	for _, kind := range []string{"memcached", "deployment"} {
		from := filepath.Join(dir, templates, kind)
		if err := os.CopyFS(filepath.Join(dir, releasedTemplates(f.version.String()), kind), os.DirFS(from)); err != nil {
			return err
		}
	}
	return nil
}

func releasedTemplates(version string) string { return filepath.Join(templates, "released", version) }

// withoutTag is an image's reference by digest alone: tools that mirror images take one or the other.
func withoutTag(image string) string { return nameOf(image) + "@" + digestIn(image) }

// tagOf is the tag in an image's reference.
func tagOf(image string) string {
	byTag, _, _ := strings.Cut(image, "@")
	return strings.TrimPrefix(strings.TrimPrefix(byTag, nameOf(image)), ":")
}

// nameOf is an image's reference without tag and digest.
func nameOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	return name
}
