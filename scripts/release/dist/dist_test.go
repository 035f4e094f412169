package dist_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdxlib"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/dist"
	"github.com/example-inc/memcached-operator/scripts/release/dist/disttest"
)

const registry = "localhost:5000/team"

// TestTheSameCommitGivesTheSameBytesEverywhere makes two releases of one commit, and lets all else differ. All other
// tests of what a release holds look at the first one.
func TestTheSameCommitGivesTheSameBytesEverywhere(t *testing.T) {
	command := disttest.Command(t)
	// One platform of four, which the tests have compiled anyway. The end-to-end test makes all.
	args := []string{
		"dist", "--version", disttest.Version, "--registry", registry, "--out", "dist", "--platform", oci.Host().String(),
	}
	first := t.TempDir()
	disttest.Repository(t, first)
	disttest.Run(t, first, nil, command, args...)

	second := filepath.Join(t.TempDir(), "a longer path", "tree")
	disttest.Run(t, first, nil, "git", "clone", "--quiet", first, second)
	makeOlder(t, second)
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".config/go/env"), "GOFLAGS=-ldflags=-X=main.version=other\nGOAMD64=v3\n")
	var env []string // Go's own folders, in another home.
	for name := range strings.FieldsSeq("GOCACHE GOMODCACHE GOPROXY GOSUMDB GOTOOLCHAIN") {
		env = append(env, name+"="+strings.TrimSpace(disttest.Run(t, ".", nil, "go", "env", name)))
	}
	env = append(env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "USER=other", "LOGNAME=other",
		"TZ=Asia/Kolkata", "LANG=C", "GOFLAGS=-tags=other", "GOEXPERIMENT=", "GOARM64=v8.1", "GOPPC64=power9")
	disttest.Run(t, second, env, "sh", append([]string{"-c", `umask 077; exec "$0" "$@"`, command}, args...)...)

	contents, modes := snapshot(t, first+"/dist")
	otherContents, otherModes := snapshot(t, second+"/dist")
	if diff := cmp.Diff(contents, otherContents) + cmp.Diff(modes, otherModes); diff != "" {
		t.Errorf("releases (-first +second):\n%s", diff)
	}
	dir := filepath.Join(first, "dist")
	made, err := dist.ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("nothing of this machine is in the release", func(t *testing.T) { assertNothingOfThisMachine(t, contents, first) })
	t.Run("the checksums are those of all files", func(t *testing.T) { disttest.Run(t, dir, nil, "sha256sum", "--strict", "-c", "SHA256SUMS") })
	t.Run("manifests name the images by digest", func(t *testing.T) { assertManifests(t, dir, made) })
	t.Run("layouts hold the images", func(t *testing.T) { assertLayouts(t, dir, made) })
	t.Run("the mirror list has every image", func(t *testing.T) { assertMirrorList(t, dir, made) })
	t.Run("SBOMs list programs and modules", func(t *testing.T) { assertSBOMs(t, dir, made) })
	t.Run("the notes list the commits", func(t *testing.T) { assertNotes(t, dir) })
}

func makeOlder(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || strings.Contains(path, "/.git/") {
			return err
		}
		return os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// snapshot is the content, or the mode, of each file and folder by name.
func snapshot(t *testing.T, dir string) (contents, modes map[string]string) {
	t.Helper()
	contents, modes = map[string]string{}, map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			modes[name] = info.Mode().String()
		}
		if !entry.IsDir() {
			contents[name] = read(t, dir, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents, modes
}

func assertNothingOfThisMachine(t *testing.T, contents map[string]string, root string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range contents {
		if strings.HasPrefix(name, "images/") {
			continue // Compressed.
		}
		for _, word := range []string{root, os.TempDir() + "/", home + "/"} {
			if strings.Contains(content, word) {
				t.Errorf("%s holds %q", name, word)
			}
		}
	}
}

func assertManifests(t *testing.T, dir string, made *dist.Record) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "install*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"install-amd64.yaml", "install-arm64.yaml", "install-openshift.yaml", "install-ppc64le.yaml", "install-s390x.yaml", "install.yaml"}
	var got []string
	for _, name := range names {
		got = append(got, filepath.Base(name))
		manifest := read(t, name)
		if within := strings.Index(manifest, "\n  namespace: "); strings.Index(manifest, "kind: Namespace\n") > within {
			t.Errorf("%s has its Namespace behind what is in it, where kubectl apply fails", name)
		}
		for _, image := range made.Images[:2] {
			if !strings.Contains(manifest, ": "+image.String()+"\n") {
				t.Errorf("%s does not name %s", name, image)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifests (-want +got):\n%s", diff)
	}
}

func assertLayouts(t *testing.T, dir string, made *dist.Record) {
	t.Helper()
	var names []string
	for _, image := range made.Images {
		names = append(names, image.Repository+":"+image.Tag)
		top, err := layout.ImageIndexFromPath(filepath.Join(dir, image.Layout))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := top.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		if len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest.String() != image.Digest {
			t.Errorf("%s lists %v, want %s alone", image.Layout, manifest.Manifests, image.Digest)
		}
	}
	want := []string{
		registry + "/memcached-operator:" + disttest.Version, registry + "/memcached-agent:" + strings.TrimSpace(read(t, disttest.Root(t), "operator/cmd/agent/VERSION")),
		registry + "/memcached-operator-bundle:v" + disttest.Version, registry + "/memcached-operator-catalog:v" + disttest.Version,
		registry + "/charts/memcached-operator:" + disttest.Version,
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}

func assertMirrorList(t *testing.T, dir string, made *dist.Record) {
	t.Helper()
	var want []string
	for _, image := range made.Images {
		path := strings.TrimPrefix(image.Repository, "localhost:5000/")
		want = append(want, image.Repository+"@"+image.Digest+" "+path+":"+image.Tag)
	}
	got := strings.Split(strings.TrimSpace(read(t, dir, "images.txt")), "\n")
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if last := got[len(got)-1]; !regexp.MustCompile(`^docker\.io/library/memcached(:\S+|@sha256:\S+) library/memcached:\S+$`).MatchString(last) {
		t.Errorf("memcached's line is %q", last)
	}
}

func assertSBOMs(t *testing.T, dir string, made *dist.Record) {
	t.Helper()
	for _, image := range made.Images {
		if strings.HasSuffix(image.Name, "-chart") {
			continue
		}
		document, err := spdxjson.Read(strings.NewReader(read(t, dir, "sbom", image.Name+".spdx.json")))
		if err != nil {
			t.Fatal(err)
		}
		if err := spdxlib.ValidateDocument(document); err != nil {
			t.Errorf("%s: %v", image.Name, err)
		}
		if document.SPDXVersion != "SPDX-2.3" || document.CreationInfo.Created != made.Time {
			t.Errorf("%s: %s of %s, want SPDX-2.3 of %s", image.Name, document.SPDXVersion, document.CreationInfo.Created, made.Time)
		}
		if got := "sha256:" + document.Packages[0].PackageChecksums[0].Value; got != image.Digest {
			t.Errorf("%s: the SBOM is of %s, want %s", image.Name, got, image.Digest)
		}
	}
	operator, err := spdxjson.Read(strings.NewReader(read(t, dir, "sbom/memcached-operator.spdx.json")))
	if err != nil {
		t.Fatal(err)
	}
	assertModule(t, operator, "sigs.k8s.io/controller-runtime")
	assertModule(t, operator, "stdlib")
}

// assertModule checks that the manager depends on a module.
func assertModule(t *testing.T, document *spdx.Document, path string) {
	t.Helper()
	program := spdx.ElementID("Program-linux-" + oci.Host().Architecture + "-manager")
	for _, p := range document.Packages {
		if p.PackageName != path {
			continue
		}
		related := slices.ContainsFunc(document.Relationships, func(r *spdx.Relationship) bool {
			return r.RefA.ElementRefID == program && r.Relationship == "DEPENDS_ON" && r.RefB.ElementRefID == p.PackageSPDXIdentifier
		})
		if !related || p.PackageVersion == "" {
			t.Errorf("%s does not depend on %s %q", program, path, p.PackageVersion)
		}
		return
	}
	t.Errorf("no package %s", path)
}

func assertNotes(t *testing.T, dir string) {
	t.Helper()
	notes := read(t, dir, "release-notes.md")
	for _, want := range []string{"# memcached-operator " + disttest.Version + "\n", "2026-01-31T12:00:00Z", "### release\n\n- a commit to release\n", registry + "/memcached-operator:" + disttest.Version, "oci://" + registry + "/charts/memcached-operator \\\n"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not hold %q:\n%s", want, notes)
		}
	}
}
