// Package overlays proves that consumers can set all images of an overlay with kustomize alone, even without a clone of
// the repository.
package overlays

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/distribution/reference"
)

const root = "../.."

// image is an image in the manifests, and the image by which a consumer replaces it.
type image struct{ ref, name, newName, newTag string }

// imageInManager matches an image in the operator's Deployment, including images in environment variables.
var imageInManager = regexp.MustCompile(`(?m)(?:^ +image:|name: RELATED_IMAGE_\w+\n +value:) (\S+)$`)

// defaults returns the images in the manifests.
func defaults(t *testing.T) []image {
	t.Helper()
	manager, err := os.ReadFile(root + "/operator/config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var images []image
	for _, match := range imageInManager.FindAllSubmatch(manager, -1) {
		named, err := reference.ParseNormalizedNamed(string(match[1]))
		if err != nil {
			t.Fatal(err)
		}
		name := named.Name()
		images = append(images, image{string(match[1]), name, "mirror.example.org/" + path.Base(name), "9.8.7"})
	}
	if len(images) != 4 {
		t.Fatalf("the manifests name %d images: those of the operator, the agent, memcached-snapshot and memcached are wanted",
			len(images))
	}
	return images
}

// all returns the overlays that install the operator.
func all(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(root + "/overlays/*/kustomization.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d overlays, error %v", len(files), err)
	}
	var overlays []string
	for _, file := range files {
		overlays = append(overlays, "overlays/"+filepath.Base(filepath.Dir(file)))
	}
	return overlays
}

func replaced(manifests string, images []image) string {
	for _, i := range images {
		manifests = strings.ReplaceAll(manifests, ": "+i.ref+"\n", ": "+i.newName+":"+i.newTag+"\n")
	}
	return manifests
}

// tempDir makes a folder, and returns its path without symbolic links, because relative paths with two dots would lead
// elsewhere from a link.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
