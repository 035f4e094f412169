package image

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const root = "../../.."

func TestOneLayerServesAllArchitectures(t *testing.T) {
	for name, kind := range map[string]Kind{"bundle": Bundle, "catalog": Catalog} {
		t.Run(name, func(t *testing.T) {
			index := build(t, kind, root+"/bundle")
			manifest, err := index.IndexManifest()
			if err != nil {
				t.Fatal(err)
			}
			var platforms []string
			layers := map[string]bool{}
			for _, entry := range manifest.Manifests {
				platforms = append(platforms, entry.Platform.String())
				image, err := index.Image(entry.Digest)
				if err != nil {
					t.Fatal(err)
				}
				list, err := image.Layers()
				if err != nil || len(list) != 1 {
					t.Fatalf("%d layers, error %v", len(list), err)
				}
				digest, err := list[0].Digest()
				if err != nil {
					t.Fatal(err)
				}
				layers[digest.String()] = true
			}
			want := []string{"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x"}
			if diff := cmp.Diff(want, platforms); diff != "" || len(layers) != 1 {
				t.Errorf("%d layers, platforms (-want +got):\n%s", len(layers), diff)
			}
		})
	}
}

func TestTheLabelByWhichOLMFindsACatalog(t *testing.T) {
	index := build(t, Catalog, root+"/bundle")
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}
	if diff := cmp.Diff(want, config.Config.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestTheSameFilesGiveTheSameDigestElsewhere(t *testing.T) {
	for name, kind := range map[string]Kind{"bundle": Bundle, "catalog": Catalog} {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(root+"/bundle")); err != nil {
			t.Fatal(err)
		}
		if here, there := digest(t, build(t, kind, root+"/bundle")), digest(t, build(t, kind, copied)); here != there {
			t.Errorf("%s: %s here, %s in a copy", name, here, there)
		}
	}
}

func TestDockerfilesThatNeedATool(t *testing.T) {
	tests := map[string]string{
		"another base":          "FROM alpine\n",
		"a command":             "FROM scratch\nRUN true\n",
		"a label over lines":    "FROM scratch\nLABEL a\n",
		"a copy of two folders": "FROM scratch\nCOPY a b /c\n",
	}
	for name, dockerfile := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := parse(dockerfile)
			if err == nil || !strings.Contains(err.Error(), "name one by CONTAINER_TOOL") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestWhatAToolIsTold(t *testing.T) {
	const ref = "r.example.com/b:1"
	const platforms = " --platform linux/amd64,linux/arm64,linux/ppc64le,linux/s390x"
	const from = " --file bundle/bundle.Dockerfile bundle"
	tests := map[string]struct {
		tool Tool
		want []string
	}{
		"docker builds": {
			Tool{Name: "docker"}, []string{"docker build --tag " + ref + from},
		},
		"docker pushes": {
			Tool{Name: "docker", Push: true},
			[]string{"docker build --tag " + ref + from, "docker push " + ref},
		},
		"podman builds": {
			Tool{Name: "podman"}, []string{"podman build --no-cache --manifest " + ref + platforms + from},
		},
		"podman pushes without TLS": {
			Tool{Name: "podman", Push: true, HTTP: true},
			[]string{
				"podman build --no-cache --manifest " + ref + platforms + from,
				"podman manifest push --all --tls-verify=false " + ref + " docker://" + ref,
			},
		},
		"buildah pushes": {
			Tool{Name: "buildah", Push: true},
			[]string{
				"buildah build --no-cache --manifest " + ref + platforms + from,
				"buildah manifest push --all " + ref + " docker://" + ref,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.tool.Dir, tc.tool.Ref = "bundle", ref
			commands, err := tc.tool.commands(Bundle)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, command := range commands {
				got = append(got, strings.Join(command, " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
	if err := Bundle.BuildByTool(t.Context(), Tool{Name: "kaniko"}); err == nil || !strings.Contains(err.Error(), `"kaniko"`) {
		t.Errorf("an unknown tool: %v", err)
	}
}

func build(t *testing.T, kind Kind, dir string) v1.ImageIndex {
	t.Helper()
	index, err := kind.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func digest(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	hash, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}
