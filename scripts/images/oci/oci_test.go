package oci

import (
	"archive/tar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// program writes a small program of its own into a folder.
func program(t *testing.T) Program {
	t.Helper()
	dir := t.TempDir()
	for file, content := range map[string]string{
		"go.mod":  "module example.com/hello\ngo 1.26\n",
		"main.go": "package main\nvar version = \"none\"\nfunc main() { println(version) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Program{Dir: dir, Package: ".", Name: "hello", LDFlags: "-X main.version=v1", Platform: Host()}
}

func build(t *testing.T, p Program) v1.Image {
	t.Helper()
	image, err := p.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func digest(t *testing.T, image v1.Image) v1.Hash {
	t.Helper()
	hash, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestProgramImagesAreReproducible(t *testing.T) {
	base := program(t)
	want := digest(t, build(t, base))
	labels := map[string]string{"a": "b"}
	tests := map[string]struct {
		change func(*Program)
		same   bool
	}{
		"building again gives the same digest":              {func(*Program) {}, true},
		"building elsewhere gives the same digest":          {func(p *Program) { p.Dir = program(t).Dir }, true},
		"another version gives another digest":              {func(p *Program) { p.LDFlags = "-X main.version=v2" }, false},
		"another architecture gives another digest":         {func(p *Program) { p.Platform.Architecture = "arm64" }, false},
		"a label belongs to the image and so to the digest": {func(p *Program) { p.Labels = labels }, false},
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

func TestProgramImageConfig(t *testing.T) {
	p := program(t)
	p.Platform = v1.Platform{OS: "linux", Architecture: "arm64"}
	config, err := build(t, p).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	got := []string{config.OS, config.Architecture, config.Config.User, strings.Join(config.Config.Entrypoint, " ")}
	if diff := cmp.Diff([]string{"linux", "arm64", "65532:65532", "/hello"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestProgramImageHoldsTheProgramAlone(t *testing.T) {
	layers := tar.NewReader(mutate.Extract(build(t, program(t))))
	header, err := layers.Next()
	if err != nil {
		t.Fatal(err)
	}
	if header.Name != "hello" || header.FileInfo().Mode().Perm() != 0o555 || !header.ModTime.Equal(epoch) {
		t.Errorf("file = %+v", header)
	}
	if next, err := layers.Next(); err == nil {
		t.Errorf("there is %s as well", next.Name)
	}
}

func TestBuildFailureShowsTheCompilersMessage(t *testing.T) {
	p := program(t)
	p.Package = "./missing"
	if _, err := p.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "go build") {
		t.Errorf("Build() = %v, want the command in it", err)
	}
}

func TestPushedImageCanBePulled(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	image := build(t, program(t))
	pushed, err := Push(t.Context(), image, strings.TrimPrefix(server.URL, "http://")+"/hello:dev")
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(pushed)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Image(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := digest(t, pulled), digest(t, image); got != want {
		t.Errorf("pulled %s, pushed %s", got, want)
	}
}
