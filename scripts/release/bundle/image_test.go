package bundle

import (
	"fmt"
	"maps"
	"slices"
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
		platforms := map[string][]string{} // by the layers of their images
		for _, image := range images {
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			layers := fmt.Sprint(config.RootFS.DiffIDs)
			platforms[layers] = append(platforms[layers], config.Platform().String())
			if key, value, _ := strings.Cut(label, "="); config.Config.Labels[key] != value || len(config.RootFS.DiffIDs) != 1 {
				t.Errorf("%v has no %s, or several layers", config.Config, label)
			}
		}
		want := [][]string{{"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x"}}
		if diff := cmp.Diff(want, slices.Collect(maps.Values(platforms))); diff != "" {
			t.Errorf("%s: platforms by layer (-want +got):\n%s", recipe, diff)
		}
	}
}
