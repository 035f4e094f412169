package inspect

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

var update = flag.Bool("update", false, "write the golden files anew")

// has is a registry that has an image for some platforms.
func has(images map[string][]string) Registry {
	return func(_ context.Context, ref string) (oci.Description, error) {
		platforms, found := images[ref]
		if !found {
			return oci.Description{}, errors.New("the registry does not have " + ref)
		}
		d := oci.Description{Index: true, Digest: "sha256:" + strings.Repeat("0", 64)}
		for _, platform := range platforms {
			digest := "sha256:" + strings.Repeat(string(platform[6]), 64)
			d.Platforms = append(d.Platforms, oci.Manifest{Platform: platform, Digest: digest})
		}
		return d, nil
	}
}

func TestWhatIsPrinted(t *testing.T) {
	const (
		operator, proxy  = "r.example.com/operator:1", "r.example.com/proxy:1"
		memcached, agent = "r.example.com/memcached:1", "r.example.com/agent:1"
	)
	tests := map[string]struct {
		golden string
		images map[string][]string
	}{
		"all images have the same": {"same", map[string][]string{
			operator: {"linux/amd64", "linux/s390x"}, memcached: {"linux/amd64", "linux/s390x"}, proxy: {"linux/amd64", "linux/s390x"},
			agent: {"linux/amd64", "linux/s390x"},
		}},
		"one has more than another": {"more", map[string][]string{
			operator: {"linux/amd64", "linux/s390x"}, memcached: {"linux/386", "linux/amd64"}, proxy: {"linux/amd64"},
			agent: {"linux/amd64", "linux/s390x"},
		}},
		"they have nothing in common": {"nothing", map[string][]string{
			operator: {"linux/s390x"}, memcached: {"linux/amd64"}, proxy: {"linux/amd64"}, agent: {"linux/amd64"},
		}},
		"one could not be read": {"unread", map[string][]string{operator: {"linux/amd64"}, proxy: {"linux/amd64"}, agent: {"linux/amd64"}}},
	}
	promised := []string{"amd64", "s390x"}
	promises := []Promise{
		{Name: Operator, Reference: operator, Architectures: promised},
		{Name: "proxy", Reference: proxy, Architectures: promised},
		{Name: Agent, Reference: agent, Architectures: promised[:1]},
		{Name: Memcached, Reference: "r.example.com/of-the-manifests:1", Architectures: promised[:1]},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			report := Compare(t.Context(), promises, map[string]string{Memcached: memcached}, has(tc.images))
			var out strings.Builder
			if err := report.WriteText(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+tc.golden+".txt", out.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
