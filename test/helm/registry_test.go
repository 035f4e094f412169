package helm

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	ggcrregistry "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"helm.sh/helm/v4/pkg/registry"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

func TestHelmPullsTheChartFromARegistry(t *testing.T) {
	server := httptest.NewServer(ggcrregistry.New())
	defer server.Close()
	reference := strings.TrimPrefix(server.URL, "http://") + "/team/charts/" + chart.Name + ":" + version
	path, artifact, err := chart.Write(root, t.TempDir(), released)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(to, artifact, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}

	client, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptWriter(t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(reference)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed, pulled.Chart.Data) {
		t.Error("what is pulled is not what was pushed")
	}
	want := load(t, pack(t, released)).Metadata
	if diff := cmp.Diff(want, pulled.Chart.Meta); diff != "" {
		t.Errorf("what registries show of the chart (-want +got):\n%s", diff)
	}
}
