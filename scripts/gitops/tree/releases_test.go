package tree

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const root = "../../.."

var update = flag.Bool("update", false, "write golden files, and list the releases from their URLs, by network, in "+CatalogFile)

// TestReleasesAreListed writes the list if -update is set. The list has facts about the objects, and no text of the
// other projects.
func TestReleasesAreListed(t *testing.T) {
	_, files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		b.Catalog.Releases = map[string][]json.RawMessage{}
		for _, remote := range b.Remotes {
			b.Catalog.Releases[remote.URL] = fetched(t, remote.URL)
		}
		if err := os.WriteFile(filepath.Join(root, CatalogFile), encoded(t, b.Catalog), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, remote := range b.Remotes {
		if b.Catalog.Releases[remote.URL] == nil {
			t.Errorf("%s is not listed: run this test with -update", remote.URL)
		}
	}
	if diff := gocmp.Diff(string(files[CatalogFile]), string(encoded(t, b.Catalog))); diff != "" {
		t.Errorf("%s differs from what -update would write (-is +would be):\n%s", CatalogFile, diff)
	}
}

// encoded returns a catalog as text, with one object per line, so that a changed object is a changed line.
func encoded(t *testing.T, c Catalog) []byte {
	t.Helper()
	var releases []string
	for _, address := range slices.Sorted(maps.Keys(c.Releases)) {
		releases = append(releases, fmt.Sprintf("    %q: [\n%s\n    ]", address, lines(t, c.Releases[address], "      ")))
	}
	return fmt.Appendf(nil, "{\n  \"releases\": {\n%s\n  },\n  \"given\": [\n%s\n  ]\n}\n",
		strings.Join(releases, ",\n"), lines(t, c.Given, "    "))
}

func lines[T any](t *testing.T, items []T, indent string) string {
	t.Helper()
	var all []string
	for _, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, indent+string(line))
	}
	return strings.Join(all, ",\n")
}

// fetched lists the objects that kustomize gets from a URL: a file, or a folder of a Git repository.
func fetched(t *testing.T, address string) (listed []json.RawMessage) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"kustomization.yaml": "resources: [\"" + address + "\"]\n"})
	built, err := kustomize(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := convert(built, dir, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(objects, func(a, b Object) int {
		return cmp.Or(
			cmp.Compare(a.GroupVersionKind().Group, b.GroupVersionKind().Group), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
		)
	})
	for _, o := range objects {
		content, err := json.Marshal(summary(o))
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, content)
	}
	return listed
}

// summary returns the part of an object that the rules of scripts/gitops/verify and the plan use.
func summary(o Object) map[string]any {
	metadata := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		metadata["namespace"] = o.GetNamespace()
	}
	short := map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": metadata}
	if kind, defines := defined(o.Unstructured); defines {
		scope := map[bool]string{true: "Namespaced", false: "Cluster"}[kind.Namespaced]
		short["spec"] = map[string]any{"group": kind.Group, "names": map[string]any{"kind": kind.Kind}, "scope": scope}
	}
	var named []any
	for _, image := range o.Images {
		image, _, _ = strings.Cut(image, "@") // Some projects add the digest only in their releases.
		named = append(named, map[string]any{"image": image})
	}
	if len(named) > 0 {
		short["spec"] = map[string]any{"images": named}
	}
	return short
}

// manifests are the manifests of an example release: an operator and its CRD.
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
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tools.acme.test}
spec:
  group: acme.test
  scope: Namespaced
  names: {kind: Tool, plural: tools}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {properties: {image: {type: string}}}}}]
---
apiVersion: v1
kind: Namespace
metadata: {name: tool}
`

func TestAReleaseIsListedFromItsURLAndRenderedFromTheList(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		_, _ = out.Write([]byte(manifests))
	}))
	defer server.Close()
	repository := t.TempDir()
	write(t, repository, map[string]string{"config/kustomization.yaml": "resources: [tool.yaml]\n", "config/tool.yaml": manifests})
	commit(t, repository)
	want := []string{
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"tool"}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"tools.acme.test"},` +
			`"spec":{"group":"acme.test","names":{"kind":"Tool"},"scope":"Namespaced"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"tool","namespace":"tool"},` +
			`"spec":{"images":[{"image":"acme.test/helper"},{"image":"acme.test/tool:v1.2.3"}]}}`,
	}
	for _, address := range []string{server.URL + "/v1.2.3/tool.yaml", "file://" + repository + "//config?ref=main"} {
		listed := fetched(t, address)
		var got []string
		for _, object := range listed {
			got = append(got, string(object))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
		b := Builder{Catalog: Catalog{Releases: map[string][]json.RawMessage{address: listed}}}
		files := Files{"gitops/a/kustomization.yaml": []byte("resources:\n  - " + address + " # pinned\n  - https://gone.test/x.yaml\n")}
		if err := b.localise(files); err != nil {
			t.Fatal(err)
		}
		objects, err := Cache{}.Render(b.Files, "gitops/a")
		if err != nil || len(objects) != 3 || b.urls[objects[0].File] != address || b.Remotes[1].Err == nil {
			t.Errorf("%s: %v: %v, remotes: %v", address, err, objects, b.Remotes)
		}
	}
}

func TestACatalogOfAnOlderRevisionAddsItsReleases(t *testing.T) {
	newer := `{"releases":{"b":[{"kind":"B"}]},"given":[{"by":"X","kinds":[]}]}`
	older := `{"releases":{"a":[{"kind":"A"}],"b":[{"old":"B"}]},"given":[{"by":"Y","methods":["olm"],"kinds":[]}],"other":1}`
	got, err := parseCatalog([]byte(older), []byte(newer))
	if err != nil {
		t.Fatal(err)
	}
	want := Catalog{
		Releases: map[string][]json.RawMessage{"a": {json.RawMessage(`{"kind":"A"}`)}, "b": {json.RawMessage(`{"kind":"B"}`)}},
		Given:    []Given{{By: "X", Kinds: []Kind{}}},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, content := range []string{"", "{", older} {
		if _, err := parseCatalog([]byte(content), nil); err == nil || !strings.Contains(err.Error(), CatalogFile) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestURLsThatArePinned(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	for address, want := range map[string]bool{
		"https://github.com/acme/tool/releases/download/v1.2.3/tool.yaml": true,
		"https://acme.test/tool/1.2.3/tool.yaml":                          true,
		"https://acme.test/tool/v1.2.3-rc.1/tool.yaml":                    true,
		"https://raw.acme.test/tool/" + hash + "/tool.yaml":               true,
		"https://github.com/acme/tool//config/default?ref=v1.2.3":         true,
		"https://github.com/acme/tool//config?ref=" + hash:                true,
		"https://github.com/acme/tool/releases/latest/download/tool.yaml": false,
		"https://raw.acme.test/acme/tool/main/v1.2.3/tool.yaml":           false,
		"https://acme.test/tool.yaml":                                     false,
		"https://acme.test/v1/tool.yaml":                                  false,
		"https://github.com/acme/tool//config?ref=release-1":              false,
		"https://github.com/acme/tool//v1.2.3/config?ref=main":            false,
		"https://github.com/acme/tool//config":                            false,
		"https://github.com/acme/tool//config?ref=0123456":                false,
		"http://acme.test/v1.2.3/tool.yaml":                               false,
		"git@github.com:acme/tool?ref=v1.2.3":                             false,
	} {
		if Pinned(address) != want {
			t.Errorf("%s: want %v", address, want)
		}
	}
}
