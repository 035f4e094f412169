package standin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/example-inc/memcached-operator/internal/testing/registry"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const bundleDir = "../../../" + bundle.Dir

func TestTheObjectsOfEachInstallMode(t *testing.T) {
	const role, cluster = "memcached-operator.v0.1.0-0", "memcached-operator.v0.1.0-operators-cluster-0"
	common := []string{
		"ClusterRole /" + cluster, "ClusterRoleBinding /" + cluster,
		"Deployment operators/memcached-operator-controller-manager",
		"ServiceAccount operators/memcached-operator-controller-manager",
	}
	roles := func(namespaces ...string) (list []string) {
		for _, namespace := range namespaces {
			list = append(list, "Role "+namespace+"/"+role, "RoleBinding "+namespace+"/"+role)
		}
		return list
	}
	tests := map[string]struct {
		targets []string
		want    []string
		serves  string
	}{
		"OwnNamespace":    {[]string{"operators"}, roles("operators"), "operators"},
		"SingleNamespace": {[]string{"a"}, roles("a", "operators"), "a"},
		"MultiNamespace":  {[]string{"a", "b"}, roles("a", "b", "operators"), "a,b"},
		"AllNamespaces":   {nil, []string{"ClusterRole /" + role + "-operators", "ClusterRoleBinding /" + role + "-operators"}, ""},
	}
	files := built(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := Installation{Namespace: "operators", Targets: tc.targets}.Objects(files)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range objects {
				kind := strings.TrimPrefix(strings.TrimLeft(fmt.Sprintf("%T", object), "*"), "v1.")
				got = append(got, fmt.Sprintf("%s %s/%s", kind, object.GetNamespace(), object.GetName()))
				if deployment, is := object.(*appsv1.Deployment); is {
					if serves := deployment.Spec.Template.Annotations[targetNamespaces]; serves != tc.serves {
						t.Errorf("the operator serves %q, want %q", serves, tc.serves)
					}
				}
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(append(slices.Clone(common), tc.want...)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABundleIsTheSameInItsImage(t *testing.T) {
	index, err := bundle.Image.Build(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Push(t.Context(), index, registry.New(t)+"/bundle:v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Pull(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	want, err := bundle.Read(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	for path := range want {
		if !strings.HasPrefix(path, "manifests/") && !strings.HasPrefix(path, "metadata/") {
			delete(want, path)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAnImageThatIsNoBundleIsRefused(t *testing.T) {
	index, err := bundle.CatalogImage.Build(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(catalog); err == nil || !strings.Contains(err.Error(), "no label") {
		t.Errorf("error: %v", err)
	}
}

// built is a bundle of today's sources.
func built(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Build(t.Context(), "../../..", bundle.Options{
		Version: "0.1.0", Image: "registry.example.com/memcached-operator:0.1.0", Channels: []string{"stable"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
