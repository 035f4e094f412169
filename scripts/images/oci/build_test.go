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
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/example-inc/memcached-operator/internal/testing/programs"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	root = "../../.."

	// maxAgent is the limit of the compressed size of the agent's image, in bytes.
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

// first returns the image of an index's first platform.
func first(t *testing.T, index v1.ImageIndex) v1.Image {
	t.Helper()
	images, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return images[0]
}

// entries returns the mode and the path of each file and folder of an image.
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

// wantContent compares the entrypoint and the files of an image of programs.
func wantContent(t *testing.T, image v1.Image, want ...string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	content := append([]string{config.Platform().String(), config.Config.User}, config.Config.Entrypoint...)
	want = append([]string{Host().String(), "65532:65532"}, want...)
	if diff := cmp.Diff(want, append(content, entries(t, image)...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProgramsBuiltTogetherEqualThoseBuiltAlone: the demo, the tests and releases build programs together or alone,
// with any settings of the user, and from any folder. The image differs only if the version differs.
func TestProgramsBuiltTogetherEqualThoseBuiltAlone(t *testing.T) {
	agent, _, err := Agent(programs.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	operator := Operator(agent.Dir, "0.1.0")
	alone := []string{digest(t, build(t, operator)), digest(t, build(t, agent))}
	if other := digest(t, build(t, Operator(agent.Dir, "0.2.0"))); other == alone[0] {
		t.Errorf("another version of the operator has the same digest: %s", other)
	}
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("GOAMD64", "v3")
	operator.Dir = programs.Write(t)
	agent.Dir = operator.Dir
	indexes, err := BuildAll(t.Context(), []v1.Platform{Host()}, func(string) {}, operator, agent)
	if err != nil {
		t.Fatal(err)
	}
	together := []string{digest(t, first(t, indexes[0])), digest(t, first(t, indexes[1]))}
	if diff := cmp.Diff(alone, together); diff != "" {
		t.Errorf("digests of operator and agent (-alone +together):\n%s", diff)
	}
}

// sources copies the files on which the agent's image may depend into a new folder.
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

func TestABuildFailureHasTheCommand(t *testing.T) {
	if _, err := (Program{Package: "./missing"}).Build(t.Context()); err == nil || !strings.Contains(err.Error(), "go build") {
		t.Errorf("error: %v", err)
	}
}

// TestTheAgentsImageDependsOnItsOwnSourcesAlone: if a change to the operator's sources changed the agent's image, an
// upgrade of the operator would replace the agents, and so empty all caches.
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
			if err := os.WriteFile(filepath.Join(dir, "operator/cmd/agent/VERSION"), []byte(version+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		program, got, err := Agent(dir)
		if err != nil || version != "" && got != version {
			t.Fatalf("version %q, error %v", got, err)
		}
		image := build(t, program)
		digests = append(digests, digest(t, image))
		wantContent(t, image, "/supervisor", "/agent", "-r-xr-xr-x supervisor", "-r-xr-xr-x agent")
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

// TestTheSourcesOfTheAgent: a release refuses an agent whose sources have changed, but whose version has not.
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
	want := []string{"drwxr-xr-x a", "drwxr-xr-x a/b", "-rw-r--r-- a/b/c", "-rw-r--r-- a/d"}
	if diff := cmp.Diff(want, entries(t, first(t, index))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheImageOfSnapshotsHasItsProgramAlone also checks that the other images can't have the client libraries of
// clouds.
func TestTheImageOfSnapshotsHasItsProgramAlone(t *testing.T) {
	wantContent(t, build(t, Snapshot(sources(t), "1.2.3")), "/snapshot", "-r-xr-xr-x snapshot")
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil || strings.Contains(string(content), "gocloud.dev") {
			t.Errorf("%s has the libraries of clouds: %v", file, err)
		}
	}
}
