package oci

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	root = "../../.."

	// maxAgent is the limit of the agent's image, compressed.
	maxAgent = 8 << 20
)

func build(t *testing.T, p Program) v1.Image {
	t.Helper()
	image, err := p.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func digest(t *testing.T, content interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	hash, err := content.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

// entries lists the content of an image.
func entries(t *testing.T, image v1.Image) []string {
	t.Helper()
	var found []string
	for archive := tar.NewReader(mutate.Extract(image)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil || !header.ModTime.Equal(epoch) {
			t.Fatalf("%+v, error %v", header, err)
		}
		found = append(found, header.FileInfo().Mode().String()+" "+header.Name)
	}
}

// hello writes a small program into a folder of its own.
func hello(t *testing.T) Program {
	t.Helper()
	dir := t.TempDir()
	for file, content := range map[string]string{
		"go.mod":        "module example.com/test\ngo 1.26\n",
		"hello/main.go": "package main\nvar version = \"none\"\nfunc main() { println(version) }\n",
	} {
		write(t, filepath.Join(dir, file), content)
	}
	return Program{Dir: dir, Package: "./hello", LDFlags: "-X main.version=v1", Platform: Host()}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProgramImagesAreReproducible(t *testing.T) {
	base := hello(t)
	want := digest(t, build(t, base))
	tests := map[string]struct {
		change func(*Program)
		same   bool
	}{
		"another folder gives the same digest":      {func(p *Program) { p.Dir = hello(t).Dir }, true},
		"another version gives another digest":      {func(p *Program) { p.LDFlags = "-X main.version=v2" }, false},
		"another architecture gives another digest": {func(p *Program) { p.Platform.Architecture = "s390x" }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			changed := base
			tc.change(&changed)
			if got := digest(t, build(t, changed)); (got == want) != tc.same {
				t.Errorf("digest = %s, first was %s, want same: %t", got, want, tc.same)
			}
		})
	}
}

func TestAProgramImageHasTheProgramAloneAndAPlatform(t *testing.T) {
	p := hello(t)
	p.Platform = v1.Platform{OS: "linux", Architecture: "arm64"}
	image := build(t, p)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	got := append([]string{config.Platform().String(), config.Config.User}, config.Config.Entrypoint...)
	want := []string{"linux/arm64", "65532:65532", "/hello", "-r-xr-xr-x hello"}
	if diff := cmp.Diff(want, append(got, entries(t, image)...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Package = "./missing"
	if _, err := p.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "go build") {
		t.Errorf("error %v does not contain the command", err)
	}
}

// TestProgramsBuiltTogetherEqualThoseBuiltAlone: demo, tests and releases build in both ways, whatever a user's settings.
func TestProgramsBuiltTogetherEqualThoseBuiltAlone(t *testing.T) {
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("GOAMD64", "v3")
	agent, _, err := Agent(root)
	if err != nil {
		t.Fatal(err)
	}
	pause := Program{Dir: agent.Dir, Package: "./scripts/images/pause", LDFlags: "-X main.version=1"}
	together, err := BuildAll(t.Context(), []v1.Platform{Host()}, func(string) {}, pause, agent)
	if err != nil {
		t.Fatal(err)
	}
	for i, program := range []Program{pause, agent} {
		alone, err := Index(build(t, program))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(digest(t, alone), digest(t, together[i])); diff != "" {
			t.Errorf("digest of %s (-alone +together):\n%s", program.Package, diff)
		}
	}
}

// sources copies the files that the operator's and the agent's images may depend on into a folder of its own.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := worktree.Files(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		return !strings.HasPrefix(name, "operator/") && name != "go.mod" && name != "go.sum"
	})
	if err := worktree.CopyFiles(root, dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheOperatorsImageDependsOnItsSourcesAndVersionAlone(t *testing.T) {
	digests := map[string][]string{}
	for _, version := range []string{"0.1.0", "0.1.0", "0.2.0"} {
		digests[version] = append(digests[version], digest(t, build(t, Operator(sources(t), version))))
	}
	if same := digests["0.1.0"]; same[0] != same[1] || same[0] == digests["0.2.0"][0] {
		t.Errorf("digests by version: %v", digests)
	}
}

// TestTheAgentsImageDependsOnItsOwnSourcesAlone: if the operator's sources changed it, an upgrade of the operator would
// replace the agents, and so empty all caches.
func TestTheAgentsImageDependsOnItsOwnSourcesAlone(t *testing.T) {
	var digests []string
	for _, version := range []string{"", "", "0.99.0"} {
		dir := sources(t)
		if len(digests) > 0 {
			if err := os.RemoveAll(filepath.Join(dir, "operator/cmd/manager")); err != nil {
				t.Fatal(err)
			}
		}
		if version != "" {
			write(t, filepath.Join(dir, "operator/cmd/agent/VERSION"), version+"\n")
		}
		program, got, err := Agent(dir)
		if err != nil || version != "" && got != version {
			t.Fatalf("version %q, error %v", got, err)
		}
		image := build(t, program)
		digests = append(digests, digest(t, image))
		config, err := image.ConfigFile()
		if err != nil || strings.Join(config.Config.Entrypoint, " ") != "/supervisor /agent" {
			t.Errorf("entrypoint of %v, error %v", config, err)
		}
		layers, err := image.Layers()
		if err != nil {
			t.Fatal(err)
		}
		if size, err := layers[0].Size(); err != nil || size > maxAgent {
			t.Errorf("%d bytes, at most %d, error %v", size, maxAgent, err)
		}
	}
	if digests[0] != digests[1] || digests[0] == digests[2] {
		t.Errorf("digests, with another operator, of another version: %v", digests)
	}
}

// TestTheSourcesOfTheAgent: a release refuses an agent of the same version whose sources have changed.
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

func TestAnImageOfFilesHasTheirFolders(t *testing.T) {
	index, err := Files(nil, map[string]string{"a/b/c": "text", "a/d": ""})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"drwxr-xr-x a", "drwxr-xr-x a/b", "-rw-r--r-- a/b/c", "-rw-r--r-- a/d"}
	if diff := cmp.Diff(want, entries(t, image)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
