package builds

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestArgoCDSharesItsLibraries: a package in two versions is compiled twice, and so is all that imports it.
func TestArgoCDSharesItsLibraries(t *testing.T) {
	kubernetes, argoCD := versions(t, "kubernetes"), versions(t, "argocd")
	for module, version := range argoCD {
		if other, ok := kubernetes[module]; ok && other != version {
			t.Errorf("%s is %s for Argo CD and %s for Kubernetes: `go get %s` of the newer one in the other's folder",
				module, version, other, module)
		}
	}
}

// versions returns those of a go.mod, without the modules that it replaces.
func versions(t *testing.T, folder string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(folder, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, require := range file.Require {
		versions[require.Mod.Path] = require.Mod.Version
	}
	for _, replace := range file.Replace {
		delete(versions, replace.Old.Path)
	}
	return versions
}
