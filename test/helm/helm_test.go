// Package helm tests the Helm chart with Helm's own library: the manifests that it renders, the values that it refuses
// and, with the build tag e2e, the effects of an install, an upgrade and a rollback on a cluster.
package helm

import (
	"errors"
	"io"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

const (
	root      = "../.."
	namespace = "memcached-operator-system" // of the overlays
	version   = "0.0.1"
)

// objects are manifests, by kind, namespace and name.
type objects map[string]map[string]any

// pack writes the chart of the working tree, and returns the path of its package.
func pack(t *testing.T, o chart.Options) string {
	t.Helper()
	path, _, err := chart.Write(root, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads a chart's package as Helm does.
func load(t *testing.T, path string) *chartv2.Chart {
	t.Helper()
	loaded, err := loader.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// template does what helm template does, in the namespace of the overlays.
func template(t *testing.T, loaded *chartv2.Chart, values string) (objects, error) {
	t.Helper()
	return templateIn(t, namespace, loaded, values)
}

func templateIn(t *testing.T, namespace string, loaded *chartv2.Chart, values string) (objects, error) {
	t.Helper()
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName, install.Namespace = chart.Name, namespace
	install.KubeVersion = &common.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"}
	result, err := install.RunWithContext(t.Context(), loaded, parseValues(t, values))
	if err != nil {
		return nil, err
	}
	release, ok := result.(*releasev1.Release)
	if !ok {
		t.Fatalf("the release is a %T", result)
	}
	return decode(t, release.Manifest), nil
}

func mustTemplate(t *testing.T, loaded *chartv2.Chart, values string) objects {
	t.Helper()
	rendered, err := template(t, loaded, values)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func parseValues(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := sigsyaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return values
}

func decode(t *testing.T, manifest string) objects {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	decoded := objects{}
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return decoded
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) == 0 {
			continue
		}
		id := strings.Join([]string{object.GetKind(), object.GetNamespace(), object.GetName()}, "/")
		if decoded[id] != nil {
			t.Fatalf("%s is there twice", id)
		}
		decoded[id] = object.Object
	}
}
