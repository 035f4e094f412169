// Package values reads, checks and rewrites gitops/settings/settings.yaml: where the Git
// repository and the images are that Argo CD works with.
package values

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Path is where the file is in the repository.
const Path = "gitops/settings/settings.yaml"

// Settings are the values in which one user of gitops/ differs from the next.
type Settings struct {
	RepoURL         string `json:"repoURL"`
	Revision        string `json:"revision"`
	ArgoCDNamespace string `json:"argocdNamespace"`
	Architecture    string `json:"architecture"`
	OperatorImage   string `json:"operatorImage"`
	AgentImage      string `json:"agentImage"`
	MemcachedImage  string `json:"memcachedImage"`
	CatalogImage    string `json:"catalogImage"`
}

// placeholderHost is where everything is until somebody says where their own things are.
const placeholderHost = "example.com"

// Placeholders names the settings that are still examples. It is empty, never nil.
func (s Settings) Placeholders() []string {
	names := []string{}
	if isPlaceholder(s.RepoURL) {
		names = append(names, "repoURL")
	}
	if isPlaceholder(s.OperatorImage) {
		names = append(names, "operatorImage")
	}
	if isPlaceholder(s.AgentImage) {
		names = append(names, "agentImage")
	}
	if isPlaceholder(s.CatalogImage) {
		names = append(names, "catalogImage")
	}
	return names
}

// File is the settings file, kept as the tree it was written as: comments and order stay.
type File struct {
	path string
	root *yaml.RNode
}

// Load reads the file, and makes sure that it is complete.
func Load(path string) (*File, error) {
	root, err := yaml.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: run this in the root of the repository, "+
			"or name the file by --file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{path: path, root: root}
	if _, err := f.Settings(); err != nil {
		return nil, err
	}
	return f, nil
}

// fields pairs each key of the file with its place in s.
func (s *Settings) fields() map[string]*string {
	return map[string]*string{
		"repoURL":         &s.RepoURL,
		"revision":        &s.Revision,
		"argocdNamespace": &s.ArgoCDNamespace,
		"architecture":    &s.Architecture,
		"operatorImage":   &s.OperatorImage,
		"agentImage":      &s.AgentImage,
		"memcachedImage":  &s.MemcachedImage,
		"catalogImage":    &s.CatalogImage,
	}
}

// Settings are the values in the file.
func (f *File) Settings() (Settings, error) {
	var s Settings
	for key, value := range s.fields() {
		node, err := f.value(key)
		if err != nil {
			return Settings{}, err
		}
		*value = node.Value
	}
	return s, nil
}

// value is the node behind a key of the ConfigMap's data.
func (f *File) value(key string) (*yaml.Node, error) {
	node, err := f.root.Pipe(yaml.Lookup("data", key))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	if node.IsNilOrEmpty() || node.YNode().Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("%s: data.%s is missing: restore the file from Git", f.path, key)
	}
	return node.YNode(), nil
}

// Init replaces the settings in the file by the choices, once all of them are found good.
func (f *File) Init(c Choices) (changed bool, err error) {
	current, err := f.Settings()
	if err != nil {
		return false, err
	}
	wanted, err := c.Resolve(current)
	if err != nil {
		return false, err
	}
	return f.Save(wanted)
}

// Read reads the settings of the tree in dir.
func Read(dir string) (Settings, error) {
	f, err := Load(filepath.Join(dir, Path))
	if err != nil {
		return Settings{}, err
	}
	return f.Settings()
}

// Edit changes the settings of the tree in dir.
func Edit(dir string, change func(*Settings)) error {
	f, err := Load(filepath.Join(dir, Path))
	if err != nil {
		return err
	}
	s, err := f.Settings()
	if err != nil {
		return err
	}
	change(&s)
	_, err = f.Save(s)
	return err
}

// Save puts the values in their places, and writes the file if that changed it. It takes the
// values as they are: Choices.Resolve has checked them.
func (f *File) Save(s Settings) (changed bool, err error) {
	for key, value := range s.fields() {
		node, err := f.value(key)
		if err != nil {
			return false, err
		}
		// The tag makes the encoder quote what YAML would else read as a number: a branch 1.20.
		node.Value, node.Tag, node.Style = *value, yaml.NodeTagString, 0
	}
	text, err := f.root.String()
	if err != nil {
		return false, err
	}
	before, err := os.ReadFile(f.path)
	if err != nil || string(before) == text {
		return false, err
	}
	return true, os.WriteFile(f.path, []byte(text), 0o644)
}
