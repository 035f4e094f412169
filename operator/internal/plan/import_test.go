package plan

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestWhatThePluginImportsIsValid: the command import knows only from the documentation which arguments the operator
// refuses.
func TestWhatThePluginImportsIsValid(t *testing.T) {
	files, err := filepath.Glob("../plugin/migrate/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests of plugin/migrate: %v", err)
	}
	for _, file := range files {
		var mc cachev1.Memcached
		if err := yaml.UnmarshalStrict([]byte(page.Read(t, file)), &mc); err != nil {
			t.Fatal(err)
		}
		if _, err := computed(&mc, nothing, defaults); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
