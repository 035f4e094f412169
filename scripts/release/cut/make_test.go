//go:build e2e

package cut_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdxlib"

	"github.com/example-inc/memcached-operator/internal/testing/release"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const registry = "localhost:5000/team"

// TestTheSameCommitGivesTheSameBytesEverywhere makes two releases of one commit, in different environments. All other
// tests of the content of a release use the first of the two.
func TestTheSameCommitGivesTheSameBytesEverywhere(t *testing.T) {
	command := release.Command(t)
	// The release is for only one of four platforms, for which the tests have compiled the programs anyway. The end-to-end
	// test makes a release for all platforms.
	args := []string{
		"dist", "--version", release.Version, "--registry", registry, "--out", "dist", "--platform", oci.Host().String(),
	}
	first := t.TempDir()
	release.Repository(t, first)
	release.Run(t, first, nil, command, args...)

	second := filepath.Join(t.TempDir(), "a longer path", "tree")
	release.Run(t, first, nil, "git", "clone", "--quiet", first, second)
	home := t.TempDir()
	const settings = "GOFLAGS=-ldflags=-X=main.version=other\nGOAMD64=v3\n"
	if err := worktree.WriteFile(filepath.Join(home, ".config/go/env"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	var env []string // Go's folders must stay the same when HOME differs.
	for name := range strings.FieldsSeq("GOCACHE GOMODCACHE GOPROXY GOSUMDB GOTOOLCHAIN") {
		env = append(env, name+"="+strings.TrimSpace(release.Run(t, ".", nil, "go", "env", name)))
	}
	env = append(env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "USER=other", "LOGNAME=other",
		"TZ=Asia/Kolkata", "LANG=C", "GOFLAGS=-tags=other", "GOEXPERIMENT=", "GOARM64=v8.1", "GOPPC64=power9")
	release.Run(t, second, env, command, args...)

	contents := tree.Read(t, first+"/dist")
	if diff := cmp.Diff(contents, tree.Read(t, second+"/dist")); diff != "" {
		t.Errorf("releases (-first +second):\n%s", diff)
	}
	dir := filepath.Join(first, "dist")
	release.Run(t, dir, nil, "sha256sum", "--strict", "-c", "SHA256SUMS")
	made, err := cut.ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("no file holds a path of this computer", func(t *testing.T) { assertNoPath(t, contents, first) })
	t.Run("manifests name the images by digest", func(t *testing.T) { assertManifests(t, contents, made) })
	t.Run("layouts and the mirror list hold the images", func(t *testing.T) { assertImages(t, dir, contents["images.txt"], made) })
	t.Run("SBOMs list programs and modules", func(t *testing.T) { assertSBOMs(t, contents, made) })
	t.Run("the plugin of kubectl runs", func(t *testing.T) { assertPlugin(t, dir, contents["memcached.yaml"]) })
	for _, want := range []string{
		"# memcached-operator " + release.Version + "\n", "2026-01-31T12:00:00Z", "### release\n\n- a commit to release\n",
		registry + "/memcached-operator:" + release.Version, "oci://" + registry + "/charts/memcached-operator \\\n",
	} {
		if notes := contents["release-notes.md"]; !strings.Contains(notes, want) {
			t.Errorf("the notes do not hold %q:\n%s", want, notes)
		}
	}
}

func assertNoPath(t *testing.T, contents map[string]string, root string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range contents {
		for _, word := range []string{root, os.TempDir() + "/", home + "/"} {
			if !strings.HasPrefix(name, "images/") && strings.Contains(content, word) { // Images are compressed.
				t.Errorf("%s holds %q", name, word)
			}
		}
	}
}

func assertManifests(t *testing.T, contents map[string]string, made *cut.Record) {
	t.Helper()
	for _, suffix := range []string{"", "-amd64", "-arm64", "-openshift", "-ppc64le", "-s390x"} {
		manifest := contents["install"+suffix+".yaml"]
		if within := strings.Index(manifest, "\n  namespace: "); within < 0 || strings.Index(manifest, "kind: Namespace\n") > within {
			t.Errorf("install%s.yaml has its Namespace behind what is in it, where kubectl apply fails", suffix)
		}
		if !strings.HasPrefix(manifest, "# Install, upgrade:  kubectl apply --server-side -f install"+suffix+".yaml\n") {
			t.Errorf("install%s.yaml does not begin with what to do with it:\n%.300s", suffix, manifest)
		}
		for _, image := range made.Images[:3] {
			if !strings.Contains(manifest, ": "+image.String()+"\n") {
				t.Errorf("install%s.yaml does not name %s", suffix, image)
			}
		}
	}
}

func assertImages(t *testing.T, dir, mirrorList string, made *cut.Record) {
	t.Helper()
	var names, lines []string
	for _, image := range made.Images {
		names = append(names, image.ByTag())
		lines = append(lines, image.ByDigest()+" "+strings.TrimPrefix(image.ByTag(), "localhost:5000/"))
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
	_, agent, err := oci.Agent(release.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		registry + "/memcached-operator:" + release.Version, registry + "/memcached-agent:" + agent,
		registry + "/memcached-snapshot:" + release.Version,
		registry + "/memcached-operator-bundle:v" + release.Version, registry + "/memcached-operator-catalog:v" + release.Version,
		registry + "/charts/memcached-operator:" + release.Version,
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	memcached, found := strings.CutPrefix(mirrorList, strings.Join(lines, "\n")+"\n")
	if !found || !regexp.MustCompile(`^docker\.io/library/memcached(:\S+|@sha256:\S+) library/memcached:\S+\n$`).MatchString(memcached) {
		t.Errorf("the mirror list is\n%swant memcached and\n%s", mirrorList, strings.Join(lines, "\n"))
	}
}

func assertPlugin(t *testing.T, dir, manifest string) {
	t.Helper()
	archive := "kubectl-memcached_" + release.Version + "_linux_" + oci.Host().Architecture + ".tar.gz"
	if !strings.Contains(manifest, "/releases/download/v"+release.Version+"/"+archive+"\n") || strings.Count(manifest, "uri:") != 1 {
		t.Errorf("krew's manifest does not name %s alone:\n%s", archive, manifest)
	}
	installed := t.TempDir()
	release.Run(t, dir, nil, "tar", "-C", installed, "-xf", archive)
	if got := release.Run(t, installed, nil, "./kubectl-memcached", "--version"); !strings.Contains(got, release.Version) {
		t.Errorf("--version is %q, want %s", got, release.Version)
	}
	path := []string{"PATH=" + installed + ":" + os.Getenv("PATH")}
	if got := release.Run(t, installed, path, "./kubectl_complete-memcached", "sta"); !strings.HasPrefix(got, "status\t") {
		t.Errorf("the completion of sta is %q, want status", got)
	}
}

func assertSBOMs(t *testing.T, contents map[string]string, made *cut.Record) {
	t.Helper()
	var operator *spdx.Document
	for _, image := range slices.Backward(made.Images[:5]) {
		var err error
		if operator, err = spdxjson.Read(strings.NewReader(contents["sbom/"+image.Name+".spdx.json"])); err != nil {
			t.Fatal(err)
		}
		if err := spdxlib.ValidateDocument(operator); err != nil {
			t.Errorf("%s: %v", image.Name, err)
		}
		if operator.SPDXVersion != "SPDX-2.3" || operator.CreationInfo.Created != made.Time {
			t.Errorf("%s: %s of %s, want SPDX-2.3 of %s", image.Name, operator.SPDXVersion, operator.CreationInfo.Created, made.Time)
		}
		if got := "sha256:" + operator.Packages[0].PackageChecksums[0].Value; got != image.Digest {
			t.Errorf("%s: the SBOM is of %s, want %s", image.Name, got, image.Digest)
		}
	}
	program := spdx.ElementID("Program-linux-" + oci.Host().Architecture + "-manager")
	for _, path := range []string{"stdlib", "sigs.k8s.io/controller-runtime"} {
		related := func(r *spdx.Relationship) bool {
			return r.RefA.ElementRefID == program && r.Relationship == "DEPENDS_ON" &&
				slices.ContainsFunc(operator.Packages, func(p *spdx.Package) bool {
					return p.PackageName == path && p.PackageVersion != "" && p.PackageSPDXIdentifier == r.RefB.ElementRefID
				})
		}
		if !slices.ContainsFunc(operator.Relationships, related) {
			t.Errorf("%s does not depend on %s", program, path)
		}
	}
}
