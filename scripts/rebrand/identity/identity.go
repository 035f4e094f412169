// Package identity holds the names by which a project is known, and which a fork changes first.
package identity

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
	"sigs.k8s.io/yaml"
)

// Identity is the four names of a project. In a request for another identity, an empty field keeps the current name.
type Identity struct {
	Module   string // path of the Go module, and the address of the repository in links
	Group    string // of the API, and the prefix of its annotations
	Registry string // of all images: host, port and path
	Name     string // of the project, and the beginning of the names of its objects
}

// Project is the file of kubebuilder that names the project and its API. It splits the group at the first dot.
const Project = "PROJECT"

// project is what is read of Project.
type project struct {
	ProjectName string `json:"projectName"`
	Resources   []struct {
		Group  string `json:"group"`
		Domain string `json:"domain"`
	} `json:"resources"`
}

var registryLine = regexp.MustCompile(`(?m)^REGISTRY \?= (\S+)$`)

// Read returns the identity of the project in a folder, as its files have it now.
func Read(dir string) (Identity, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return Identity{}, fmt.Errorf("run this in the root of the repository: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, Project))
	if err != nil {
		return Identity{}, err
	}
	var p project
	if err := yaml.Unmarshal(text, &p); err != nil {
		return Identity{}, fmt.Errorf("%s: %w", Project, err)
	}
	makefile, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil {
		return Identity{}, err
	}
	registry := registryLine.FindSubmatch(makefile)
	id := Identity{Module: modfile.ModulePath(mod), Name: p.ProjectName}
	if len(p.Resources) > 0 {
		id.Group = p.Resources[0].Group + "." + p.Resources[0].Domain
	}
	if registry != nil {
		id.Registry = string(registry[1])
	}
	if err := id.complete(); err != nil {
		return Identity{}, err
	}
	return id, nil
}

// complete names the file that lacks one of the names.
func (id Identity) complete() error {
	for _, part := range []struct{ value, where string }{
		{id.Module, "go.mod has no module path"},
		{id.Group, Project + " has no resource with group and domain"},
		{id.Registry, "Makefile has no line REGISTRY ?= host/path"},
		{id.Name, Project + " has no projectName"},
	} {
		if part.value == "" {
			return fmt.Errorf("%s: restore the file from Git", part.where)
		}
	}
	return nil
}

// With returns the identity with the names that change has.
func (id Identity) With(change Identity) Identity {
	return Identity{
		Module:   cmp.Or(change.Module, id.Module),
		Group:    cmp.Or(change.Group, id.Group),
		Registry: cmp.Or(change.Registry, id.Registry),
		Name:     cmp.Or(change.Name, id.Name),
	}
}

// Domain splits the group as kubebuilder does: the first label is the group, the rest the domain.
func (id Identity) Domain() (group, domain string) {
	group, domain, _ = strings.Cut(id.Group, ".")
	return group, domain
}

// Spellings are all forms in which files have the names, in the same order for each identity.
func (id Identity) Spellings() []string {
	group, _ := id.Domain()
	var all []string
	for _, name := range []string{id.Module, id.Group, id.Registry, id.Name} {
		escaped := regexp.QuoteMeta(name)
		if escaped == name { // localhost:5001: without an escape of its own it could not be told from the name itself
			escaped = strings.ReplaceAll(name, ":", `\:`)
		}
		all = append(all, name, escaped, strings.ReplaceAll(escaped, `\`, `\\`))
	}
	return append(all,
		strings.ReplaceAll(id.Name, "-", "_")+"_", // metrics
		group+"_v1_memcached",                     // the file name of a sample
	)
}
