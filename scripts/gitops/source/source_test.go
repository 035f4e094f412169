package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

const (
	release = "https://github.com/acme/tool/releases/download/v1.2.3/tool.yaml"
	folder  = "https://github.com/acme/tool//config/default?ref=v1.2.3"
)

func TestWhatIsPinned(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	tests := map[string]struct {
		address string
		want    string // a part of the reason; empty: pinned
	}{
		"a release":                    {release, ""},
		"a release without a v":        {"https://acme.test/tool/1.2.3/tool.yaml", ""},
		"a release candidate":          {"https://acme.test/tool/v1.2.3-rc.1/tool.yaml", ""},
		"a commit of a file":           {"https://raw.acme.test/tool/" + hash + "/tool.yaml", ""},
		"a tag of a repository":        {folder, ""},
		"a commit of a repository":     {"https://github.com/acme/tool//config?ref=" + hash, ""},
		"the newest release":           {"https://github.com/acme/tool/releases/latest/download/tool.yaml", `"latest"`},
		"a file of a branch":           {"https://raw.acme.test/acme/tool/main/tool.yaml", `"main"`},
		"a branch beside a version":    {"https://raw.acme.test/acme/tool/main/v1.2.3/tool.yaml", `"main"`},
		"a URL without a version":      {"https://acme.test/tool.yaml", "no part of it"},
		"half a version":               {"https://acme.test/v1/tool.yaml", "no part of it"},
		"a branch of a repository":     {"https://github.com/acme/tool//config?ref=release-1", "release-1"},
		"a version in the folder only": {"https://github.com/acme/tool//v1.2.3/config?ref=main", "ref=main"},
		"a repository without a ref":   {"https://github.com/acme/tool//config", "default branch"},
		"half a commit":                {"https://github.com/acme/tool//config?ref=0123456", "neither"},
		"plain http":                   {"http://acme.test/v1.2.3/tool.yaml", "https"},
		"ssh":                          {"git@github.com:acme/tool?ref=v1.2.3", "https"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Unpinned(tc.address)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, wanted is %q", got, tc.want)
			}
		})
	}
}

func TestTheListIsAsItIsWritten(t *testing.T) {
	content, err := os.ReadFile("../../../" + File)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	again, err := catalog.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(content), string(again)); diff != "" {
		t.Errorf("%s (-is +would be written):\n%s", File, diff)
	}
}

func TestAListWithSomethingElseIsRefused(t *testing.T) {
	for _, content := range []string{"", "{", `{"releases":{},"given":[],"more":1}`} {
		if _, err := Parse([]byte(content)); err == nil || !strings.Contains(err.Error(), "--write") {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// listed is a source by its list.
var listed = Catalog{
	Releases: map[string][]Object{
		release: {
			{Version: "v1", Kind: "Namespace", Name: "tool"},
			{
				Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Name: "tools.acme.test",
				Defines: &Kind{Group: "acme.test", Kind: "Tool", Plural: "tools", Versions: []string{"v1"}, Namespaced: true},
			},
			{
				Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "tool", Name: "tool",
				Images: []string{"acme.test/helper", "acme.test/tool:v1.2.3"},
			},
		},
	},
	Given: []Given{{By: "Acme", Ways: []string{"olm"}, Kinds: []Kind{{Group: "acme.test", Kind: "Thing"}}}},
}

func TestStandInsAreWhatTheListSays(t *testing.T) {
	manifests, err := listed.StandIns(release)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decode(manifests)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range objects {
		want := listed.Releases[release][i]
		if diff := cmp.Diff(want.Images, listed.Images(release, u)); diff != "" {
			t.Errorf("images of %s (-want +got):\n%s", want.Name, diff)
		}
		got, err := describe(*u)
		if err != nil {
			t.Fatal(err)
		}
		got.Images = want.Images
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if _, err := listed.StandIns(folder); err == nil || !strings.Contains(err.Error(), File) {
		t.Errorf("a source that is not listed: %v", err)
	}
}

func TestDescribeNamesWhatMustBeKnown(t *testing.T) {
	got, err := Describe([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listed.Releases[release], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"kind: Namespace\n", "a: [\n"} {
		if _, err := Describe([]byte(text)); err == nil {
			t.Errorf("%q is no manifest", text)
		}
	}
}

// manifests of that source, in another order.
const manifests = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: tool, namespace: tool}
spec:
  template:
    spec:
      containers:
        - name: tool
          image: acme.test/tool:v1.2.3@sha256:0123456789012345678901234567890123456789012345678901234567890123
          args: [--helper-image=acme.test/helper@sha256:0123456789012345678901234567890123456789012345678901234567890123]
---
# nothing
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tools.acme.test}
spec:
  group: acme.test
  scope: Namespaced
  names: {kind: Tool, plural: tools}
  versions:
    - {name: v1, served: true, schema: {openAPIV3Schema: {properties: {image: {type: string}}}}}
    - {name: v1alpha1, served: false}
---
apiVersion: v1
kind: Namespace
metadata: {name: tool}
`

func TestACatalogFillsWhatAnotherLacks(t *testing.T) {
	other := Catalog{Releases: map[string][]Object{folder: {{Kind: "A"}}, release: {{Kind: "B"}}}}
	got := listed.Over(other)
	want := map[string][]Object{folder: {{Kind: "A"}}, release: listed.Releases[release]}
	if diff := cmp.Diff(Catalog{Releases: want, Given: listed.Given}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLocaliseReplacesWhatIsRemote(t *testing.T) {
	files := repo.Files{
		"gitops/a/kustomization.yaml": []byte("resources:\n  - local.yaml\n  - " + release + " # pinned\n  - " + folder + "\n"),
		"gitops/b/kustomization.yaml": []byte("components:\n  - ../a\nresources:\n  - " + release + "\n"),
	}
	remotes, err := Remotes(files)
	if err != nil {
		t.Fatal(err)
	}
	gets := 0
	got := Localise(files, remotes, func(address string) ([]byte, error) {
		gets++
		if address == folder {
			return nil, os.ErrNotExist
		}
		return []byte("kind: A\n"), nil
	})
	if gets != 2 || len(got.Failed) != 1 || got.Failed[folder] == nil {
		t.Errorf("%d gets, failed: %v", gets, got.Failed)
	}
	want := map[string]string{
		"gitops/a/kustomization.yaml": "resources:\n  - local.yaml\n  - remote-0.yaml # pinned\n  - remote-1.yaml\n",
		"gitops/a/remote-0.yaml":      "# " + release + "\nkind: A\n",
		"gitops/a/remote-1.yaml":      "# " + folder + "\n",
		"gitops/b/kustomization.yaml": "components:\n  - ../a\nresources:\n  - remote-2.yaml\n",
		"gitops/b/remote-2.yaml":      "# " + release + "\nkind: A\n",
	}
	for file, content := range want {
		if diff := cmp.Diff(content, string(got.Files[file])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	if got.URLs["gitops/b/remote-2.yaml"] != release {
		t.Errorf("URLs: %v", got.URLs)
	}
	broken := repo.Files{filepath.Join("gitops", "kustomization.yaml"): []byte("resources: {")}
	if _, err := Remotes(broken); err == nil || !strings.Contains(err.Error(), "gitops/kustomization.yaml") {
		t.Errorf("a broken kustomization: %v", err)
	}
}
