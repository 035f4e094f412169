package image

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

const dir = "../../../bundle"

func TestOneLayerServesAllPlatformsAndHasTheLabelThatOLMReads(t *testing.T) {
	labels := map[Kind]string{
		Bundle:  "operators.operatorframework.io.bundle.manifests.v1",
		Catalog: "operators.operatorframework.io.index.configs.v1",
	}
	for kind, label := range labels {
		t.Run(string(kind), func(t *testing.T) {
			index, err := kind.Build(dir)
			if err != nil {
				t.Fatal(err)
			}
			images, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			var platforms []string
			layers := map[string]bool{}
			for _, image := range images {
				config, err := image.ConfigFile()
				if err != nil {
					t.Fatal(err)
				}
				platforms = append(platforms, config.Platform().String())
				if config.Config.Labels[label] == "" {
					t.Errorf("%v lacks %s", config.Config.Labels, label)
				}
				for _, layer := range config.RootFS.DiffIDs {
					layers[layer.String()] = true
				}
			}
			want := []string{"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x"}
			if diff := cmp.Diff(want, platforms); diff != "" || len(layers) != 1 {
				t.Errorf("%d layers, platforms (-want +got):\n%s", len(layers), diff)
			}
		})
	}
}

func TestTheSameFilesGiveTheSameDigestElsewhere(t *testing.T) {
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Kind{Bundle, Catalog} {
		here, err := kind.Digest(dir)
		if err != nil {
			t.Fatal(err)
		}
		if there, err := kind.Digest(copied); err != nil || here != there {
			t.Errorf("%s: %s here, %s in a copy, error %v", kind, here, there, err)
		}
	}
}
