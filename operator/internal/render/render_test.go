package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

func planned(change func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Name: "cache", Namespace: "team", UID: "00000000-0000-0000-0000-000000000001",
		Size: 3, Image: "registry.example.com/memcached:1.6.45",
		Memcached:     memcached.Settings{ItemMemory: 64 << 20, Port: 11211, MaxConnections: 1024, Threads: 4},
		Architectures: []string{"amd64", "arm64"},
		UserID:        new(int64(11211)),
	}
	change(&p)
	return p
}

func TestObjectsMatchTheirGoldenFiles(t *testing.T) {
	tests := map[string]func(*plan.Plan){
		"three nodes on two architectures": func(*plan.Plan) {},
		"no node":                          func(p *plan.Plan) { p.Size = 0 },
		"any architecture":                 func(p *plan.Plan) { p.Architectures = nil },
		"a user that the cluster assigns":  func(p *plan.Plan) { p.UserID = nil },
		"a gibibyte of items":              func(p *plan.Plan) { p.Memcached.ItemMemory = 1 << 30 },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			for _, object := range Objects(planned(change)) {
				file := strings.ReplaceAll(name, " ", "-") + ".yaml"
				compareGolden(t, filepath.Join("testdata", strings.ToLower(object.Kind), file), object)
			}
		})
	}
}

func compareGolden(t *testing.T, path string, object Object) {
	t.Helper()
	got, err := yaml.Marshal(object.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it by: go test ./operator/internal/render -update)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; write it anew by -update):\n%s", path, diff)
	}
}

func TestRenderingIsTheSameEachTime(t *testing.T) {
	p := planned(func(*plan.Plan) {})
	spell := func() string {
		var all []byte
		for _, object := range Objects(p) {
			content, err := yaml.Marshal(object.Configuration)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, content...)
		}
		return string(all)
	}
	first := spell()
	for range 20 {
		if diff := cmp.Diff(first, spell()); diff != "" {
			t.Fatalf("rendered otherwise:\n%s", diff)
		}
	}
}

func TestEveryObjectIsValidByTheSchemaOfItsKind(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
	for _, object := range Objects(planned(func(*plan.Plan) {})) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: content}); err != nil {
			t.Errorf("%s: %v", object.Kind, err)
		}
		if object.Metadata.UID != nil || len(object.Metadata.OwnerReferences) != 1 {
			t.Errorf("%s: metadata %+v", object.Kind, object.Metadata)
		}
	}
}
