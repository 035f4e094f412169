package cut

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/registry"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// releaseFor writes a release of two small images and the chart for a registry. If agent is false, the record names an
// agent's image of an earlier release.
func releaseFor(t *testing.T, host string, agent bool) *Tree {
	t.Helper()
	c := &Tree{Dir: "../../..", Record: Record{Version: "0.2.0", Registry: host + "/team"}, out: t.TempDir()}
	for _, platform := range oci.Platforms() {
		c.Platforms = append(c.Platforms, platform.String())
	}
	for _, name := range []string{"memcached-operator", "memcached-agent"} {
		index, err := oci.Files(nil, map[string]string{"file": name})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.addImage(name, name, "1", index); err != nil {
			t.Fatal(err)
		}
	}
	if !agent {
		c.Images[1].Content, c.Images[1].Layout = nil, ""
	}
	for _, write := range []func() error{c.writeImages, c.writeChart} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.writeFile("install.yaml", []byte("a: b\n")); err != nil {
		t.Fatal(err)
	}
	seal(t, c)
	return c
}

func TestAReleaseIsPushedOnce(t *testing.T) {
	c := releaseFor(t, registry.New(t), true)
	for _, action := range []string{"pushed", "unchanged"} {
		var out strings.Builder
		if err := Push(t.Context(), c.out, &out); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), ": "+action+"\n") != 3 {
			t.Errorf("the actions are not %s thrice:\n%s", action, &out)
		}
		for _, image := range c.Images {
			if found, err := oci.Digest(t.Context(), image.ByTag()); err != nil || found != image.ByDigest() {
				t.Errorf("%s is %s, want %s, error %v", image.ByTag(), found, image.Digest, err)
			}
		}
	}
}

func TestAnAgentOfAnEarlierReleaseMustBeInTheRegistry(t *testing.T) {
	host := registry.New(t)
	c := releaseFor(t, host, false)
	err := Push(t.Context(), c.out, t.Output())
	if err == nil || !strings.Contains(err.Error(), "belongs to an earlier release") {
		t.Errorf("error %v", err)
	}
	assertMissing(t, c.Images[0])
	for _, dir := range []string{releaseFor(t, host, true).out, c.out} {
		if err := Push(t.Context(), dir, t.Output()); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatPreventsAPushIsFoundBeforeAnythingIsSent(t *testing.T) {
	occupy := func(n int) func(*testing.T, *Tree) {
		return func(t *testing.T, c *Tree) {
			index, err := oci.Files(nil, map[string]string{"other": ""})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := oci.Push(t.Context(), index, c.Images[n].ByTag()); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		prepare func(t *testing.T, c *Tree)
		want    string
	}{
		"a folder without a release":            {func(t *testing.T, c *Tree) { remove(t, c.out, recordFile) }, "make one by make release OUT="},
		"a file that was changed":               {func(t *testing.T, c *Tree) { touch(t, c.out, "install.yaml") }, "SHA256SUMS was written: install.yaml"},
		"a file that is missing":                {func(t *testing.T, c *Tree) { remove(t, c.out, "install.yaml") }, "SHA256SUMS was written: install.yaml"},
		"a file that the release did not write": {func(t *testing.T, c *Tree) { touch(t, c.out, "more.yaml") }, "SHA256SUMS was written: more.yaml: make"},
		"no checksums":                          {func(t *testing.T, c *Tree) { remove(t, c.out, sumsFile) }, "SHA256SUMS: no such file"},
		"a trial on fewer platforms": {
			func(t *testing.T, c *Tree) { c.Platforms = c.Platforms[:2]; seal(t, c) }, "a trial for only linux/amd64, linux/arm64",
		},
		"a layout outside the release": {
			func(t *testing.T, c *Tree) { c.Images[1].Layout = "../images"; seal(t, c) }, `is in "../images", outside the release`,
		},
		"a layout of another image": {
			func(t *testing.T, c *Tree) { c.Images[1].Digest = c.Images[0].Digest; seal(t, c) },
			"images/memcached-agent does not hold sha256:",
		},
		"a tag with another digest":         {occupy(1), "is in the registry already, with another digest"},
		"a chart's tag with another digest": {occupy(2), "charts/memcached-operator:0.2.0 is in the registry already"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := releaseFor(t, registry.New(t), true)
			tc.prepare(t, c)
			err := Push(t.Context(), c.out, t.Output())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			assertMissing(t, c.Images[0])
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func assertMissing(t *testing.T, image Image) {
	t.Helper()
	if found, err := oci.Digest(t.Context(), image.ByTag()); err == nil {
		t.Errorf("%s was pushed: %s", image.ByTag(), found)
	}
}
