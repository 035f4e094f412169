// Package plugin packs kubectl-memcached for the computers of users: an archive for each platform, and the manifest by
// which krew installs them.
package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	program = "kubectl-memcached"

	// completion is what kubectl starts to complete a command line of the plugin. It must be in the PATH under this name.
	completion       = "kubectl_complete-memcached"
	completionScript = "#!/bin/sh\nexec kubectl-memcached __complete \"$@\"\n"

	license = "LICENSE"
)

// Options describe the release that the plugin is a part of.
type Options struct {
	Root      string // of the repository
	Version   string // such as 0.2.0
	Time      string // of everything in the archives, as in 2026-01-31T12:00:00Z
	Platforms []v1.Platform

	// Compile writes a program into a folder: oci.Compile, or what is faster in tests.
	Compile func(ctx context.Context, program oci.Program, dir string) error
}

// Platforms are those of the operator, and the usual ones of the computers that kubectl runs on.
func Platforms() []v1.Platform {
	return append(oci.Platforms(), v1.Platform{OS: "darwin", Architecture: "amd64"},
		v1.Platform{OS: "darwin", Architecture: "arm64"}, v1.Platform{OS: "windows", Architecture: "amd64"})
}

// file is one file in an archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

// Write writes the archives and the manifest into a folder. The same sources and options make the same bytes.
func Write(ctx context.Context, dir string, o Options) error {
	m, err := newManifest(o)
	if err != nil {
		return err
	}
	for _, platform := range o.Platforms {
		files, err := o.files(ctx, platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		packed, err := pack(files, o.Time)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s_%s_%s_%s.tar.gz", program, o.Version, platform.OS, platform.Architecture)
		if err := worktree.WriteFile(filepath.Join(dir, name), packed, 0o644); err != nil {
			return err
		}
		m.add(platform, name, fmt.Sprintf("%x", sha256.Sum256(packed)), files)
	}
	return m.write(dir)
}

// files are the content of an archive, the program first. Windows has no shell for the script.
func (o Options) files(ctx context.Context, platform v1.Platform) ([]file, error) {
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
	files := []file{{name, 0o755, content}, {license, 0o644, terms}}
	if isShell {
		files = append(files, file{completion, 0o755, []byte(completionScript)})
	}
	return files, errors.Join(programErr, licenseErr)
}

// pack makes an archive that krew reads on every platform. Each file has the same time, and belongs to nobody.
func pack(files []file, at string) ([]byte, error) {
	modified, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: modified.UTC(),
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), zipped.Close())
	return packed.Bytes(), err
}
