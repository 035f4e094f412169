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
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       spec              `json:"spec"`
}

type spec struct {
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`
	Caveats          string     `json:"caveats"`
	Platforms        []platform `json:"platforms"`
}

type platform struct {
	Selector selector `json:"selector"`
	URI      string   `json:"uri"`
	SHA256   string   `json:"sha256"`
	Bin      string   `json:"bin"`
	Files    []copied `json:"files"`
}

type selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// copied is a file of the archive, and the folder of the plugin that krew copies it to.
type copied struct {
	From string `json:"from"`
	To   string `json:"to"`
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
	return &manifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin",
		Metadata: map[string]string{"name": name},
		Spec: spec{
			Version: "v" + o.Version, Homepage: repository,
			ShortDescription: shortDescription, Description: description, Caveats: caveats,
		},
	}, nil
}

// add adds an archive, where make release-publish puts it on the forge.
func (m *manifest) add(p v1.Platform, archive, sum string, files []file) {
	added := platform{
		Selector: selector{MatchLabels: map[string]string{"os": p.OS, "arch": p.Architecture}},
		URI:      m.Spec.Homepage + "/releases/download/" + m.Spec.Version + "/" + archive,
		SHA256:   sum, Bin: files[0].name,
	}
	for _, f := range files {
		added.Files = append(added.Files, copied{From: f.name, To: "."})
	}
	m.Spec.Platforms = append(m.Spec.Platforms, added)
}

func (m *manifest) write(dir string) error {
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o644)
}
