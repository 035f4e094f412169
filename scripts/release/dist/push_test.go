package dist

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
)

var stamped = &cut.Stamped{Version: "0.2.0", Memcached: "docker.io/library/memcached:1"}

// releaseFor writes a release of two small images for a registry. The second one is of an earlier release if it is not
// to be built.
func releaseFor(t *testing.T, host string, buildsAgent bool) (dir string, c *Content) {
	t.Helper()
	of := *stamped
	of.Dir, of.Registry = "../../..", host+"/team"
	c = &Content{Stamped: &of, Out: t.TempDir(), Platforms: oci.Platforms()}
	for _, name := range []string{"memcached-operator", "memcached-agent"} {
		index, err := oci.Files(nil, map[string]string{"file": name})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := index.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if name == "memcached-agent" && !buildsAgent {
			index = nil
		}
		c.Images = append(c.Images, newImage(host+"/team/"+name+":1@"+digest.String(), index))
	}
	if err := writeImages(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := writeChart(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	write(t, c.Out)
	seal(t, c)
	return c.Out, c
}

// seal writes what follows from the rest of a release.
func seal(t *testing.T, c *Content) {
	t.Helper()
	if _, err := writeRecord(c); err != nil {
		t.Fatal(err)
	}
	if err := writeSums(c.Out); err != nil {
		t.Fatal(err)
	}
}

func newRegistry(t *testing.T) (host string) {
	t.Helper()
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestAReleaseIsPushedOnce(t *testing.T) {
	host := newRegistry(t)
	dir, c := releaseFor(t, host, true)
	for _, want := range []string{pushed, unchanged} {
		result, err := Push(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, image := range result.Images {
			got = append(got, image.Action)
		}
		if !slices.Equal(got, []string{want, want, want}) {
			t.Errorf("actions %q, want thrice %s", got, want)
		}
		assertSame(t, c.Images[2], dir)
		for _, image := range c.Images[:2] {
			found, err := oci.Describe(t.Context(), image.byTag())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(image.Digest, found.Digest); diff != "" || len(found.Platforms) != len(oci.Platforms()) {
				t.Errorf("%s has %d platforms, digest (-want +got):\n%s", image.byTag(), len(found.Platforms), diff)
			}
		}
	}
}

// assertSame checks that the registry has the chart's package as it is in the release.
func assertSame(t *testing.T, chart Image, dir string) {
	t.Helper()
	reference, err := name.ParseReference(chart.byTag())
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(reference, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, error %v", len(layers), err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	want, err := checksum(filepath.Join(dir, "charts/memcached-operator-0.2.0.tgz"))
	if err != nil || digest.Hex != want || !strings.HasSuffix(chart.Repository, "/team/charts/memcached-operator") {
		t.Errorf("%s holds %s, want %s, error %v", chart.byTag(), digest.Hex, want, err)
	}
}

func TestAnAgentOfAnEarlierReleaseMustBeInTheRegistry(t *testing.T) {
	host := newRegistry(t)
	dir, c := releaseFor(t, host, false)
	_, err := Push(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "of an earlier release") {
		t.Errorf("error %v", err)
	}
	assertMissing(t, c.Images[0].byTag())

	earlier, _ := releaseFor(t, host, true)
	for _, dir := range []string{earlier, dir} {
		if _, err := Push(t.Context(), dir); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatPreventsAPushIsFoundBeforeAnythingIsSent(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, dir string, c *Content)
		want    string
	}{
		"a folder without a release": {
			func(t *testing.T, dir string, _ *Content) { remove(t, dir, recordFile) }, "make one by make release OUT=",
		},
		"a file that was changed": {
			func(t *testing.T, dir string, _ *Content) { touch(t, dir, "install.yaml") }, "install.yaml has been changed",
		},
		"a file that is lost": {
			func(t *testing.T, dir string, _ *Content) { remove(t, dir, "install.yaml") }, "install.yaml: no such file",
		},
		"a file that the release did not write": {
			func(t *testing.T, dir string, _ *Content) { touch(t, dir, "more.yaml") }, "SHA256SUMS has no checksum of more.yaml",
		},
		"no checksums": {
			func(t *testing.T, dir string, _ *Content) { truncate(t, dir, sumsFile) }, "SHA256SUMS has no checksum of install.yaml",
		},
		"a trial on fewer platforms": {
			func(t *testing.T, _ string, c *Content) {
				c.Platforms = c.Platforms[:2]
				seal(t, c)
			},
			"made without linux/ppc64le, linux/s390x, as a trial, and its tags are final: make it anew without --platform",
		},
		"a layout outside the release": {
			func(t *testing.T, _ string, c *Content) {
				c.Images[1].Layout = "../images"
				seal(t, c)
			},
			`is in "../images", outside the release`,
		},
		"a layout that holds another image": {
			func(t *testing.T, _ string, c *Content) {
				c.Images[1].Digest = c.Images[0].Digest
				seal(t, c)
			},
			"images/memcached-agent does not hold sha256:",
		},
		"a chart that is not the one of the record": {
			func(t *testing.T, _ string, c *Content) {
				c.Images[2].Digest = c.Images[0].Digest
				seal(t, c)
			},
			"charts/memcached-operator-0.2.0.tgz makes sha256:",
		},
		"a chart's tag that has another digest": {
			func(t *testing.T, _ string, c *Content) {
				index, err := oci.Files(nil, map[string]string{"other": ""})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := oci.PushIndex(t.Context(), index, c.Images[2].byTag()); err != nil {
					t.Fatal(err)
				}
			},
			"charts/memcached-operator:0.2.0 is in the registry already, with another digest",
		},
		"a tag that has another digest": {
			func(t *testing.T, _ string, c *Content) {
				index, err := oci.Files(nil, map[string]string{"other": ""})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := oci.PushIndex(t.Context(), index, c.Images[1].byTag()); err != nil {
					t.Fatal(err)
				}
			},
			"is in the registry already, with another digest",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir, c := releaseFor(t, newRegistry(t), true)
			tc.prepare(t, dir, c)
			_, err := Push(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			assertMissing(t, c.Images[0].byTag())
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Truncate(filepath.Join(dir, name), 0); err != nil {
		t.Fatal(err)
	}
}

func assertMissing(t *testing.T, reference string) {
	t.Helper()
	if found, err := oci.Digest(t.Context(), reference); err == nil {
		t.Errorf("%s was pushed: %s", reference, found)
	}
}
