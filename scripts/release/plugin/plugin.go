// Package plugin packs kubectl-memcached for the computers of users: it makes an archive for each platform, and the
// manifest by which krew installs the plugin.
package plugin

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/archive"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	program = "kubectl-memcached"
	name    = "memcached" // krew requires the same name for the manifest's file

	// completion is the program that kubectl starts to complete a command line of the plugin. It must have this name, and
	// be in a folder of the PATH.
	completion       = "kubectl_complete-memcached"
	completionScript = "#!/bin/sh\nexec kubectl-memcached __complete \"$@\"\n"

	license = "LICENSE"

	shortDescription = "Show and operate the caches of the memcached operator"
)

// krew shows both texts in terminals, so no line is longer than 80 characters.
var (
	//go:embed description.txt
	description string

	//go:embed caveats.txt
	caveats string
)

// Options describe the release that the plugin is a part of.
type Options struct {
	Root      string // of the repository
	Version   string // such as 0.2.0
	Time      string // time of all files in the archives, as in 2026-01-31T12:00:00Z
	Platforms []v1.Platform

	// Compile writes a program into a folder: it is oci.Compile or, in tests, a faster function.
	Compile func(ctx context.Context, program oci.Program, dir string) error
}

// Platforms returns the platforms of the operator, and the usual platforms of computers on which users run kubectl.
func Platforms() []v1.Platform {
	return append(oci.Platforms(), v1.Platform{OS: "darwin", Architecture: "amd64"},
		v1.Platform{OS: "darwin", Architecture: "arm64"}, v1.Platform{OS: "windows", Architecture: "amd64"})
}

// Write writes the archives and the manifest into a folder. From the same sources and options, it makes the same bytes.
// krew defines the manifest: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest.
func Write(ctx context.Context, dir string, o Options) error {
	csv, err := kyaml.ReadFile(filepath.Join(o.Root, bundle.Base))
	if err != nil {
		return fmt.Errorf("%s: %w", bundle.Base, err)
	}
	homepage := csv.GetAnnotations()["repository"]
	if homepage == "" {
		return fmt.Errorf("%s has no annotation repository: write the address of the project there", bundle.Base)
	}
	var platforms []any
	for _, p := range o.Platforms {
		platform, err := o.writeArchive(ctx, dir, p, homepage)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		platforms = append(platforms, platform)
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin",
		"metadata": map[string]string{"name": name},
		"spec": map[string]any{
			"version": "v" + o.Version, "homepage": homepage, "shortDescription": shortDescription,
			"description": description, "caveats": caveats, "platforms": platforms,
		},
	})
	if err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o644)
}

// writeArchive writes the archive for a platform, and returns the part of the manifest about this platform. The
// manifest names the URL at which make release-publish puts the archive on the forge.
func (o Options) writeArchive(ctx context.Context, dir string, p v1.Platform, homepage string) (any, error) {
	files, err := o.files(ctx, p)
	if err != nil {
		return nil, err
	}
	packed, err := archive.Pack(o.Time, gzip.DefaultCompression, files...)
	if err != nil {
		return nil, err
	}
	var copied []any // files that krew copies into the folder of the plugin
	for _, f := range files {
		copied = append(copied, map[string]string{"from": f.Name, "to": "."})
	}
	file := fmt.Sprintf("%s_%s_%s_%s.tar.gz", program, o.Version, p.OS, p.Architecture)
	return map[string]any{
		"selector": map[string]any{"matchLabels": map[string]string{"os": p.OS, "arch": p.Architecture}},
		"uri":      homepage + "/releases/download/v" + o.Version + "/" + file,
		"sha256":   fmt.Sprintf("%x", sha256.Sum256(packed)), "bin": files[0].Name, "files": copied,
	}, worktree.WriteFile(filepath.Join(dir, file), packed, 0o644)
}

// files returns the files of an archive, the program first. The archive for Windows has no completion script, because
// Windows has no shell that could run it.
func (o Options) files(ctx context.Context, platform v1.Platform) ([]archive.File, error) {
	dir, err := os.MkdirTemp("", "plugin-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	compiled := oci.Plugin(o.Root, o.Version)
	compiled.Platform = platform
	if err := o.Compile(ctx, compiled, dir); err != nil {
		return nil, err
	}
	name, isShell := program, platform.OS != "windows"
	if !isShell {
		name += ".exe"
	}
	content, programErr := os.ReadFile(filepath.Join(dir, name))
	terms, licenseErr := os.ReadFile(filepath.Join(o.Root, license))
	files := []archive.File{{Name: name, Mode: 0o755, Content: content}, {Name: license, Mode: 0o644, Content: terms}}
	if isShell {
		files = append(files, archive.File{Name: completion, Mode: 0o755, Content: []byte(completionScript)})
	}
	return files, errors.Join(programErr, licenseErr)
}
