package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const (
	root = "../../.."
	at   = "2026-01-31T12:00:00Z"
)

// options returns the options of a release whose programs print the platform for which they were built.
func options() Options {
	return Options{
		Root: root, Version: "0.2.0-rc.1", Time: at, Platforms: Platforms(),
		Compile: func(_ context.Context, p oci.Program, dir string) error {
			file := filepath.Join(dir, path.Base(p.Package))
			if p.Platform.OS == "windows" {
				file += ".exe"
			}
			return os.WriteFile(file, []byte(p.LDFlags+" for "+p.Platform.String()), 0o600)
		},
	}
}

// krewPlugin has all fields that krew documents, and no other.
type krewPlugin struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Version, ShortDescription, Description, Caveats, Homepage string
		Platforms                                                 []struct {
			URI, SHA256, Bin string
			Selector         metav1.LabelSelector
			Files            []struct{ From, To string }
		}
	}
}

// written writes the archives and the manifest, and returns these files, and the manifest as krew reads it.
func written(t *testing.T, o Options) (files map[string]string, manifest krewPlugin) {
	t.Helper()
	dir := t.TempDir()
	if err := Write(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	files = tree.Read(t, dir)
	if err := yaml.UnmarshalStrict([]byte(files["memcached.yaml"]), &manifest); err != nil {
		t.Fatal(err)
	}
	return files, manifest
}

func TestKrewInstallsEachArchiveOnItsPlatform(t *testing.T) {
	files, manifest := written(t, options())
	if len(files) != len(manifest.Spec.Platforms)+1 {
		t.Errorf("%d files, want the manifest and an archive for each of %d platforms", len(files), len(manifest.Spec.Platforms))
	}
	got := map[string]string{}
	for _, p := range manifest.Spec.Platforms {
		labels := p.Selector.MatchLabels
		got[labels["os"]+"/"+labels["arch"]] = p.URI
		archive := files[path.Base(p.URI)]
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(archive))); sum != p.SHA256 {
			t.Errorf("%s: sha256 %s, want %s", p.URI, p.SHA256, sum)
		}
		held := contentsOf(t, archive)
		want := "-rwxr-xr-x -X main.version=0.2.0-rc.1 for " + labels["os"] + "/" + labels["arch"]
		if held[p.Bin] != want {
			t.Errorf("%s has the program %q, want %q", p.URI, held[p.Bin], want)
		}
		script, isShell := held[completion]
		if isShell != (labels["os"] != "windows") || isShell && script != "-rwxr-xr-x "+completionScript {
			t.Errorf("%s has the script %q", p.URI, script)
		}
		for _, f := range p.Files {
			if _, found := held[f.From]; !found || f.To != "." {
				t.Errorf("%s: krew copies %+v, the archive holds %v", p.URI, f, held)
			}
			delete(held, f.From)
		}
		if len(held) > 0 {
			t.Errorf("%s: krew copies nothing of %v", p.URI, held)
		}
	}
	want := map[string]string{}
	for _, platform := range []string{
		"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x", "darwin/amd64", "darwin/arm64", "windows/amd64",
	} {
		want[platform] = manifest.Spec.Homepage + "/releases/download/v0.2.0-rc.1/kubectl-memcached_0.2.0-rc.1_" +
			strings.ReplaceAll(platform, "/", "_") + ".tar.gz"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// contentsOf returns the files of an archive, each with its mode before its content.
func contentsOf(t *testing.T, archive string) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return held
		}
		if err != nil || header.ModTime.UTC().Format(time.RFC3339) != at || header.Uid != 0 || header.Uname != "" {
			t.Fatalf("%+v, error %v", header, err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		held[header.Name] = header.FileInfo().Mode().String() + " " + string(content)
	}
}

func TestKrewAcceptsTheManifest(t *testing.T) {
	_, manifest := written(t, options())
	if manifest.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || manifest.Kind != "Plugin" {
		t.Errorf("it is a %s of %s", manifest.Kind, manifest.APIVersion)
	}
	spec := manifest.Spec
	if manifest.Metadata.Name != "memcached" || spec.Version != "v0.2.0-rc.1" || !strings.HasPrefix(spec.Homepage, "https://") {
		t.Errorf("it describes %s %s of %q", manifest.Metadata.Name, spec.Version, spec.Homepage)
	}
	for text, most := range map[string]int{spec.ShortDescription: 70, spec.Description: 80, spec.Caveats: 80} {
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) > most || text == "" {
				t.Errorf("a text is empty, or a line is longer than %d characters: %s", most, line)
			}
		}
	}
}

// TestUsersReadHowToWriteTheCompletion: users who build the plugin, or who install it by krew, have to write the
// completion script by hand.
func TestUsersReadHowToWriteTheCompletion(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/kubectl-memcached.md"))
	command := "printf '" + strings.ReplaceAll(completionScript, "\n", `\n`) + "'"
	if err != nil || !bytes.Contains(page, []byte(command)) || !strings.Contains(caveats, command) {
		t.Errorf("docs/kubectl-memcached.md and caveats.txt do not both hold %s, error %v", command, err)
	}
}

func TestAReleaseIsRefused(t *testing.T) {
	base := func(annotations string) func(*testing.T, *Options) {
		return func(t *testing.T, o *Options) {
			o.Root = t.TempDir()
			tree.Write(t, o.Root, map[string]string{bundle.Base: "metadata: {annotations: " + annotations + "}\n"})
		}
	}
	for want, change := range map[string]func(*testing.T, *Options){
		"linux/amd64: no such package": func(_ *testing.T, o *Options) {
			o.Compile = func(context.Context, oci.Program, string) error { return errors.New("no such package") }
		},
		bundle.Base + " has no annotation repository": base("{}"),
		"LICENSE": base("{repository: https://acme.test}"),
	} {
		t.Run(want, func(t *testing.T) {
			o := options()
			change(t, &o)
			if err := Write(t.Context(), t.TempDir(), o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}
