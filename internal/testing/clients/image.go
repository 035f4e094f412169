// Package clients lists the memcached clients of other projects that test/clients tests. It also makes an image with
// the clients that are packages of Debian or npm.
package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Suite is the suite of Debian whose packages have the clients and the programs that run their languages.
const Suite = "trixie"

// javaPackage is the package of the Java runtime, which can also run a program from its source file.
const javaPackage = "openjdk-25-jre-headless"

var packages = []string{
	"libspymemcached-java", javaPackage, "python3-pymemcache", "python3-pylibmc", "python3-django", "python3-oslo.cache",
	"python3-memcache", "php-cli", "php-memcached", "ruby", "ruby-dalli", "nodejs",
}

// without lists the dependencies that the image leaves out. Other packages need them only to install or to start
// services.
var without = []string{
	"adduser", "ca-certificates", "ca-certificates-java", "debconf", "dpkg", "init-system-helpers", "media-types",
	"openssl", "perl", "perl-base", "sensible-utils", "systemd", "sysvinit-utils", "ucf",
}

// Folder holds the programs that use the clients, in the image and below test in the repository.
const Folder = "clients"

// Push makes an image of the packages and of the programs in test/clients, and returns its reference.
func Push(ctx context.Context, repository, ref string) (string, error) {
	programs := filepath.Join(repository, "test", Folder)
	base, err := packagesLayer(ctx, programs)
	if err != nil {
		return "", err
	}
	sources, err := sourcesLayer(programs)
	if err != nil {
		return "", err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, base, sources); err != nil {
		return "", err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return "", err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = oci.Host().OS, oci.Host().Architecture
	file.Config = v1.Config{User: "65532:65532", WorkingDir: "/" + Folder, Env: []string{"PATH=/usr/bin", "HOME=/tmp"}}
	if image, err = mutate.ConfigFile(image, file); err != nil {
		return "", err
	}
	return oci.Push(ctx, image, ref)
}

// sourcesLayer returns the layer with the programs in test/clients.
func sourcesLayer(programs string) (v1.Layer, error) {
	var archive bytes.Buffer
	if err := pack(&archive, programs, Folder); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// packagesLayer returns the layer with the packages. The layer is kept in the cache, because the packages take some
// time to fetch.
func packagesLayer(ctx context.Context, programs string) (v1.Layer, error) {
	home, err := builds.CacheHome()
	if err != nil {
		return nil, err
	}
	lock, err := os.ReadFile(filepath.Join(programs, "node/package-lock.json"))
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(fmt.Append(lock, Suite, packages, without))
	file := filepath.Join(home, "bin", fmt.Sprintf("clients-%s-%x.tar.zst", runtime.GOARCH, key[:6]))
	if _, err := os.Stat(file); err != nil {
		if err := fetch(ctx, programs, file); err != nil {
			return nil, fmt.Errorf("clients of Debian %s and npm: %w", Suite, err)
		}
	}
	return compressed(file)
}

func compressed(file string) (v1.Layer, error) {
	return tarball.LayerFromFile(file,
		tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd))
}

// fetch fetches the packages, and writes the layer into this file. The file appears in one step, because another
// process may look for it at the same time.
func fetch(ctx context.Context, programs, file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(file), "clients-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	root := filepath.Join(work, "root")
	version, err := debian.Unpack(ctx, root, debian.Request{
		Package: packages[0], Also: packages[1:], Architecture: runtime.GOARCH, Suite: Suite, Without: without,
	})
	if err != nil {
		return err
	}
	// Unlike all other libraries, spymemcached does not know its version. So the program that uses spymemcached reads the
	// version from this file.
	java := filepath.Join(root, Folder, "java")
	err = errors.Join(os.MkdirAll(java, 0o755), os.WriteFile(filepath.Join(java, "VERSION"), []byte(version), 0o644))
	if err != nil {
		return err
	}
	if err := fetchNode(ctx, programs, filepath.Join(root, Folder, "node")); err != nil {
		return err
	}
	archive := filepath.Join(work, "layer.tar")
	if err := packFile(archive, root); err != nil {
		return err
	}
	layer, err := compressed(archive)
	if err != nil {
		return err
	}
	if err := save(layer, archive+".zst"); err != nil {
		return err
	}
	return os.Rename(archive+".zst", file)
}

// fetchNode installs the packages of npm into a folder.
func fetchNode(ctx context.Context, programs, folder string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is missing, which fetches memcached clients for Node.js")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		content, err := os.ReadFile(filepath.Join(programs, "node", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return worktree.Run(ctx, folder, os.Environ(), "npm", "ci", "--silent")
}

func save(layer v1.Layer, path string) error {
	from, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
