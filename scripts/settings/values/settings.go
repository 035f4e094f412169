// Package values reads, checks and writes gitops/settings/settings.yaml, which names the Git repository and the images
// that Argo CD uses.
package values

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Path is the file's path in the repository.
const Path = "gitops/settings/settings.yaml"

// Settings are the values that differ between the users of gitops/.
type Settings struct {
	RepoURL, Revision, ArgoCDNamespace, Architecture                       string
	OperatorImage, AgentImage, SnapshotImage, MemcachedImage, CatalogImage string
}

// Field is a setting, with the setting's key in the file.
type Field struct {
	Key   string
	Value *string
}

// Fields returns all settings, in the order of the file.
func (s *Settings) Fields() []Field {
	return []Field{
		{"repoURL", &s.RepoURL}, {"revision", &s.Revision}, {"argocdNamespace", &s.ArgoCDNamespace},
		{"architecture", &s.Architecture}, {"operatorImage", &s.OperatorImage}, {"agentImage", &s.AgentImage},
		{"snapshotImage", &s.SnapshotImage},
		{"memcachedImage", &s.MemcachedImage}, {"catalogImage", &s.CatalogImage},
	}
}

// IsExample reports whether an image is an example. The registry of an example is a host of example.com.
func IsExample(image string) bool {
	host, _, _ := strings.Cut(image, "/")
	return strings.HasSuffix("."+host, ".example.com")
}

// Read reads the settings of the repository in dir.
func Read(dir string) (Settings, error) {
	_, s, err := load(filepath.Join(dir, Path))
	return s, err
}

// Edit changes the settings of the repository in dir. It keeps comments and order, but does not check the values.
func Edit(dir string, change func(*Settings)) error {
	path := filepath.Join(dir, Path)
	root, s, err := load(path)
	if err != nil {
		return err
	}
	change(&s)
	for _, f := range s.Fields() {
		value, err := root.Pipe(yaml.Lookup("data", f.Key))
		if err != nil {
			return err
		}
		node := value.YNode()
		// The tag of the YAML node makes the encoder quote values that YAML would read as a number, such as the branch 1.20.
		node.Value, node.Tag, node.Style = *f.Value, yaml.NodeTagString, 0
	}
	text, err := root.String()
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func load(path string) (root *yaml.RNode, s Settings, err error) {
	root, err = yaml.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, s, fmt.Errorf("%s does not exist: run this in the root of the repository", path)
	}
	if err != nil {
		return nil, s, fmt.Errorf("%s: %w", path, err)
	}
	data := root.GetDataMap()
	for _, f := range s.Fields() {
		if *f.Value = data[f.Key]; *f.Value == "" {
			return nil, s, fmt.Errorf("%s: data.%s is missing: restore the file from Git", path, f.Key)
		}
	}
	return root, s, nil
}
