package repo

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// SettingsFile is where the settings are.
const SettingsFile = "gitops/settings/settings.yaml"

// placeholderHost is where everything is until somebody says where their own things are.
const placeholderHost = "example.com"

// Settings are the values in which one user of gitops/ differs from the next.
type Settings struct {
	RepoURL, Revision, ArgoCDNamespace, Architecture string
	OperatorImage, AgentImage                        string
	MemcachedImage, CatalogImage                     string
}

// Settings are those in the settings file.
func (f Files) Settings() (Settings, error) {
	var s Settings
	root, err := f.settings()
	if err != nil {
		return s, err
	}
	for key, value := range map[string]*string{
		"repoURL": &s.RepoURL, "revision": &s.Revision, "argocdNamespace": &s.ArgoCDNamespace,
		architecture: &s.Architecture, "operatorImage": &s.OperatorImage,
		"agentImage": &s.AgentImage, "memcachedImage": &s.MemcachedImage, "catalogImage": &s.CatalogImage,
	} {
		node, err := root.Pipe(yaml.Lookup("data", key))
		if err != nil {
			return s, fmt.Errorf("%s: %w", SettingsFile, err)
		}
		if *value = yaml.GetValue(node); *value == "" {
			return s, fmt.Errorf("%s: data.%s is missing: restore the file from Git", SettingsFile, key)
		}
	}
	return s, nil
}

const architecture = "architecture"

func (f Files) settings() (*yaml.RNode, error) {
	content, found := f[SettingsFile]
	if !found {
		return nil, fmt.Errorf("%s does not exist: restore it from Git", SettingsFile)
	}
	root, err := yaml.Parse(string(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", SettingsFile, err)
	}
	return root, nil
}

// Architectures are those that can be chosen: each has a folder of its own. One of them is Multiarch.
func (f Files) Architectures() []string {
	var names []string
	for _, file := range f.Kustomizations(direct) {
		names = append(names, strings.Split(strings.TrimPrefix(file, direct+"/"), "/")[0])
	}
	return slices.Compact(names)
}

const direct = "gitops/operator/direct"

// Multiarch is the choice of all the other architectures.
const Multiarch = "multiarch"

// WithArchitecture is a copy whose settings name another architecture.
func (f Files) WithArchitecture(name string) (Files, error) {
	if known := f.Architectures(); !slices.Contains(known, name) {
		return nil, fmt.Errorf("architecture %q: there is no %s/%s: choose one of %s",
			name, direct, name, strings.Join(known, ", "))
	}
	root, err := f.settings()
	if err != nil {
		return nil, err
	}
	if err := root.PipeE(yaml.Lookup("data"), yaml.SetField(architecture, yaml.NewStringRNode(name))); err != nil {
		return nil, fmt.Errorf("%s: %w", SettingsFile, err)
	}
	content, err := root.String()
	return f.With(Files{SettingsFile: []byte(content)}), err
}

// Placeholders names the settings that are still examples, and those that are not.
func (s Settings) Placeholders() (examples, own []string) {
	for _, setting := range []struct{ name, value string }{
		{"repoURL", s.RepoURL}, {"operatorImage", s.OperatorImage}, {"agentImage", s.AgentImage},
		{"catalogImage", s.CatalogImage},
	} {
		if isPlaceholder(setting.value) {
			examples = append(examples, setting.name)
		} else {
			own = append(own, setting.name)
		}
	}
	return examples, own
}

// isPlaceholder tells of a repository or an image at a host that nobody can have.
func isPlaceholder(value string) bool {
	host, _, _ := strings.Cut(value, "/")
	if u, err := url.Parse(value); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return host == placeholderHost || strings.HasSuffix(host, "."+placeholderHost)
}
