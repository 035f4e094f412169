package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

func TestOneLayerServesAllPlatformsAndHasTheLabelThatOLMReads(t *testing.T) {
	labels := map[Recipe]string{
		Image:        "operators.operatorframework.io.bundle.manifests.v1=manifests/",
		CatalogImage: "operators.operatorframework.io.index.configs.v1=/configs",
	}
	for recipe, label := range labels {
		index, err := recipe.Build("../../../bundle")
		if err != nil {
			t.Fatal(err)
		}
		images, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		platforms, layers := map[string]bool{}, map[string]bool{}
		for _, image := range images {
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			platforms[config.Platform().String()] = true
			for _, layer := range config.RootFS.DiffIDs {
				layers[layer.String()] = true
			}
			if key, value, _ := strings.Cut(label, "="); config.Config.Labels[key] != value {
				t.Errorf("%v has no %s", config.Config.Labels, label)
			}
		}
		want := map[string]bool{"linux/amd64": true, "linux/arm64": true, "linux/ppc64le": true, "linux/s390x": true}
		if diff := cmp.Diff(want, platforms); diff != "" || len(layers) != 1 {
			t.Errorf("%s: %d layers, platforms (-want +got):\n%s", recipe, len(layers), diff)
		}
	}
}
