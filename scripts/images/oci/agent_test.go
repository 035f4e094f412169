package oci

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxAgent is what the agent's image may have, compressed.
const maxAgent = 8 << 20

// TestTheAgentsImageIsSmallAndItsOwn builds the agent in two folders. One of them has another operator, which must
// change nothing: whoever upgrades the operator alone would get other agents, and so empty caches.
func TestTheAgentsImageIsSmallAndItsOwn(t *testing.T) {
	var digests []string
	for _, version := range []string{"", "", "0.99.0"} {
		dir := sources(t)
		if len(digests) > 0 {
			if err := os.RemoveAll(filepath.Join(dir, "operator/cmd/manager")); err != nil {
				t.Fatal(err)
			}
		}
		if version != "" {
			if err := os.WriteFile(filepath.Join(dir, "operator/cmd/agent/VERSION"), []byte(version+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		program, got, err := Agent(dir)
		if err != nil || version != "" && got != version {
			t.Fatalf("version %q, error %v", got, err)
		}
		program.Platform = Host()
		image := build(t, program)
		digests = append(digests, digest(t, image).String())
		config, err := image.ConfigFile()
		if err != nil || strings.Join(config.Config.Entrypoint, " ") != "/supervisor /agent" {
			t.Errorf("it starts %v, error %v", config, err)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%d layers, error %v", len(layers), err)
		}
		size, err := layers[0].Size()
		t.Logf("the image has %d bytes", size)
		if err != nil || size > maxAgent {
			t.Errorf("that is more than %d, or error %v", maxAgent, err)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("with another operator it is %s, before it was %s", digests[1], digests[0])
	}
	if digests[0] == digests[2] {
		t.Error("two versions are the same image")
	}
}

// TestTheSourcesOfTheAgent: a release refuses an agent that has changed by these.
func TestTheSourcesOfTheAgent(t *testing.T) {
	program, _, err := Agent(root)
	if err != nil {
		t.Fatal(err)
	}
	folders, err := program.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{
		"operator/cmd/agent": true, "operator/internal/agent": true, "operator/cmd/manager": false, "operator/internal/render": false,
	} {
		if slices.Contains(folders, folder) != want {
			t.Errorf("%s is among the agent's sources: %t, want %t: %v", folder, !want, want, folders)
		}
	}
}
