package tree

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// SettingsFile is the file with the settings.
const SettingsFile = "gitops/settings/settings.yaml"

// Settings are the values that differ between the users of gitops/, by their keys in the file.
type Settings map[string]string

var settingKeys = []string{
	"repoURL", "revision", "argocdNamespace", "architecture", "operatorImage", "agentImage", "snapshotImage",
	"memcachedImage", "catalogImage",
}

// Settings returns the settings in the settings file.
func (f Files) Settings() (Settings, error) {
	var file struct{ Data Settings }
	if err := yaml.Unmarshal(f[SettingsFile], &file); err != nil {
		return nil, fmt.Errorf("%s: %w", SettingsFile, err)
	}
	for _, key := range settingKeys {
		if file.Data[key] == "" {
			return nil, fmt.Errorf("%s: data.%s is missing: restore the file from Git", SettingsFile, key)
		}
	}
	return file.Data, nil
}

// Examples returns the settings that name a host of example.com. own are the settings that do not, of those that a user
// has to write.
func (s Settings) Examples() (examples, own []string) {
	for _, key := range []string{"repoURL", "operatorImage", "agentImage", "snapshotImage", "catalogImage"} {
		host, _, _ := strings.Cut(s[key], "/")
		if u, err := url.Parse(s[key]); err == nil && u.Hostname() != "" {
			host = u.Hostname()
		}
		if strings.HasSuffix("."+host, ".example.com") {
			examples = append(examples, key)
		} else {
			own = append(own, key)
		}
	}
	return examples, own
}

// Multiarch is the value of the setting architecture that stands for all architectures.
const Multiarch = "multiarch"

// Architectures returns the possible values of the setting architecture, including Multiarch. Each has an overlay.
func (f Files) Architectures() []string { return f.folders("overlays", "openshift") }

var architectureLine = regexp.MustCompile(`(?m)^( +architecture:).*$`)

// Variant returns a copy of the files whose settings name an architecture, with these options and the options that they
// need.
func (f Files) Variant(architecture string, options ...string) (Files, error) {
	if known := f.Architectures(); !slices.Contains(known, architecture) {
		return nil, fmt.Errorf("architecture %q: choose one of %s", architecture, strings.Join(known, ", "))
	}
	settings := architectureLine.ReplaceAll(f[SettingsFile], []byte("${1} "+architecture))
	return f.With(Files{SettingsFile: settings}).withOptions(options)
}
