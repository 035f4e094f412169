package standin

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// Pull reads a bundle from its image for the platform of this machine, as a Node pulls it.
func Pull(ctx context.Context, ref string) (bundle.Files, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, err
	}
	image, err := remote.Image(parsed, remote.WithContext(ctx), remote.WithPlatform(oci.Host()),
		remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", ref, err)
	}
	files, err := Unpack(image)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return files, nil
}

// Unpack reads the manifests and the metadata from the folders that the image's labels name.
func Unpack(image v1.Image) (bundle.Files, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	const prefix = "operators.operatorframework.io.bundle."
	labels := config.Config.Labels
	if labels[prefix+"mediatype.v1"] != "registry+v1" {
		return nil, errors.New("the image has no label that says it is a bundle")
	}
	folders := map[string]string{
		path.Clean(labels[prefix+"manifests.v1"]): "manifests",
		path.Clean(labels[prefix+"metadata.v1"]):  "metadata",
	}
	files := bundle.Files{}
	content := mutate.Extract(image)
	defer content.Close()
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		dir, file := path.Split(strings.TrimPrefix(header.Name, "/"))
		folder, wanted := folders[path.Clean(dir)]
		if !wanted || header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		files[path.Join(folder, file)] = string(text)
	}
}
