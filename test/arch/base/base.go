//go:build e2e

// Package base makes the base image in which the Dockerfile builds, if the official base image can't be pulled.
package base

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Push makes a base image with this machine's Go and a shell, pushes it to the registry at host, and returns its
// reference. The base image is an index of all platforms, like the official base image, but only the image for this
// machine's platform has files. So a build fails if its build stage uses another platform, under emulation.
func Push(t *testing.T, host string) string {
	t.Helper()
	var images []v1.Image
	for _, platform := range oci.Platforms() {
		var layers []v1.Layer
		if platform.Architecture == runtime.GOARCH {
			layers = append(layers, toolchain(t))
		}
		images = append(images, builderFor(t, platform, layers...))
	}
	index, err := oci.Index(images...)
	if err != nil {
		t.Fatal(err)
	}
	ref := host + "/golang:" + strings.TrimPrefix(runtime.Version(), "go")
	if _, err := oci.Push(t.Context(), index, ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

func builderFor(t *testing.T, platform v1.Platform, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Config.Env = []string{
		"PATH=/usr/local/go/bin:/bin", "GOPATH=/go", "GOCACHE=/go/cache", "GOTOOLCHAIN=local", "HOME=/root",
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

// toolchain is a layer with this machine's Go, and with a shell that needs no other file.
func toolchain(t *testing.T) v1.Layer {
	t.Helper()
	shell := t.TempDir()
	_, err := debian.Unpack(t.Context(), shell, debian.Request{
		Package: "busybox-static", Architecture: runtime.GOARCH,
	})
	if err != nil {
		t.Fatal(err)
	}
	return writeLayer(t, func(archive *tar.Writer) error {
		for _, dir := range []string{"bin/", "tmp/", "root/", "go/", "etc/"} {
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o777}); err != nil {
				return err
			}
		}
		if err := addFile(archive, filepath.Join(shell, "bin/busybox"), "bin/sh"); err != nil {
			return err
		}
		return addGo(archive, goenv(t, "GOROOT"))
	})
}

func writeLayer(t *testing.T, write func(*tar.Writer) error) v1.Layer {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	if err := write(archive); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromFile(file.Name(), tarball.WithCompressionLevel(gzip.BestSpeed))
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// addGo adds the parts of Go that a build needs: its programs and the sources of the standard library.
func addGo(archive *tar.Writer, goroot string) error {
	needless := []string{"api", "doc", "misc", "test", "src/cmd"}
	return filepath.WalkDir(goroot, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(goroot, file)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (slices.Contains(needless, inside) || entry.Name() == "testdata"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || strings.HasSuffix(inside, "_test.go"):
			return nil
		}
		return addFile(archive, file, "usr/local/go/"+filepath.ToSlash(inside))
	})
}

func addFile(archive *tar.Writer, from, to string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: to, Size: info.Size(), Mode: int64(info.Mode().Perm())}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}

// Caches returns the arguments by which an image build uses this machine's caches of Go modules and of compiled
// packages, so that it needs no network.
func Caches(t *testing.T, root string) []string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download")
	download.Dir = root
	if out, err := download.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", download, err, out)
	}
	return []string{
		"--build-arg", "GOPROXY=off", "--volume", goenv(t, "GOMODCACHE") + ":/go/pkg/mod",
		"--volume", goenv(t, "GOCACHE") + ":/go/cache",
	}
}

func goenv(t *testing.T, variable string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", variable).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
