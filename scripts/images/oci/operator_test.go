package oci

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const root = "../../.."

// TestTheOperatorsImageDependsOnItsSourcesAndVersionAlone builds the operator in two folders that hold nothing but
// what it may depend on.
func TestTheOperatorsImageDependsOnItsSourcesAndVersionAlone(t *testing.T) {
	digests := map[string][]string{}
	for _, version := range []string{"0.1.0", "0.1.0", "0.2.0"} {
		program := Operator(sources(t), version)
		program.Platform = Host()
		digests[version] = append(digests[version], digest(t, build(t, program)).String())
	}
	if same := digests["0.1.0"]; same[0] != same[1] {
		t.Errorf("0.1.0 is %s in one folder and %s in another", same[0], same[1])
	}
	if digests["0.1.0"][0] == digests["0.2.0"][0] {
		t.Error("0.1.0 and 0.2.0 are the same image")
	}
}

// sources copies what the operator's image may depend on into a folder of its own.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "operator", "go.mod", "go.sum")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range bytes.Lines(out) {
		name := string(bytes.TrimSpace(name))
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
