package supervisor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestEachFileCanBeRendered(t *testing.T) {
	entries, err := files.ReadDir("config")
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{Config: Config{Dir: "/run/x", CNIDir: "/cni"}}
	for _, entry := range entries {
		content, err := s.render(entry.Name(), secondNode)
		if err != nil || strings.Contains(string(content), "<no value>") {
			t.Errorf("%s: %v\n%s", entry.Name(), err, content)
		}
		if filepath.Ext(entry.Name()) != ".yaml" || entry.Name() == "parts.yaml" {
			continue
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var parsed map[string]any
			if err := yaml.Unmarshal([]byte(document), &parsed); err != nil || parsed["kind"] == nil {
				t.Errorf("%s: %v in\n%s", entry.Name(), err, document)
			}
		}
	}
}

func TestTheAPIServerIsReachedFromPodsOnlyOnARealNode(t *testing.T) {
	for isReal, want := range map[bool]string{true: "--advertise-address=" + NodeIP, false: "--bind-address=127.0.0.1"} {
		s := &supervisor{Config: Config{Dir: "/run/x", Real: isReal}}
		if err := s.readParts(); err != nil {
			t.Fatal(err)
		}
		if server := s.parts[1]; !slices.Contains(server.Args, want) {
			t.Errorf("%s has no %s: %q", server.Name, want, server.Args)
		}
	}
}
