package plugin

import (
	_ "embed"
	"fmt"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	name             = "memcached" // krew wants the manifest's file to have the same
	shortDescription = "Show and operate the caches of the memcached operator"
)

// Both are shown in terminals: no line is longer than 80 characters.
var (
	//go:embed description.txt
	description string

	//go:embed caveats.txt
	caveats string
)

// manifest is what krew reads: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest.
type manifest struct {
	version, homepage string
	platforms         []any
}

// newManifest describes the plugin without any platform.
func newManifest(o Options) (*manifest, error) {
	csv, err := kyaml.ReadFile(filepath.Join(o.Root, bundle.Base))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.Base, err)
	}
	repository := csv.GetAnnotations()["repository"]
	if repository == "" {
		return nil, fmt.Errorf("%s has no annotation repository: write the address of the project there", bundle.Base)
	}
	return &manifest{version: "v" + o.Version, homepage: repository}, nil
}

// add adds an archive, where make release-publish puts it on the forge.
func (m *manifest) add(p v1.Platform, archive, sum string, files []file) {
	var copied []any // into the folder of the plugin
	for _, f := range files {
		copied = append(copied, map[string]string{"from": f.name, "to": "."})
	}
	m.platforms = append(m.platforms, map[string]any{
		"selector": map[string]any{"matchLabels": map[string]string{"os": p.OS, "arch": p.Architecture}},
		"uri":      m.homepage + "/releases/download/" + m.version + "/" + archive,
		"sha256":   sum, "bin": files[0].name, "files": copied,
	})
}

func (m *manifest) write(dir string) error {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin",
		"metadata": map[string]string{"name": name},
		"spec": map[string]any{
			"version": m.version, "homepage": m.homepage, "shortDescription": shortDescription,
			"description": description, "caveats": caveats, "platforms": m.platforms,
		},
	})
	if err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o644)
}
