package tree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// CatalogFile lists the objects of the releases of other projects that the tree names by URL, so that the tree is
// rendered without a network. TestReleasesAreListed writes it with -update.
const CatalogFile = "gitops/sources.json"

// Catalog is the content of CatalogFile.
type Catalog struct {
	// Releases are the objects of each release, by its URL: apiVersion, kind, name and namespace, the images, and which
	// kind a CustomResourceDefinition defines. kustomize can patch these parts of objects as it patches whole objects.
	Releases map[string][]json.RawMessage `json:"releases"`
	// Given are kinds that no Application installs, because the cluster already has them.
	Given []Given `json:"given"`
}

// Given are kinds that a cluster has before the tree is applied.
type Given struct {
	By string `json:"by"`
	// Methods are the install methods whose clusters have the kinds. If the list is empty, all have them.
	Methods []string `json:"methods,omitempty"`
	Kinds   []Kind   `json:"kinds"`
}

// Kind is a kind of objects.
type Kind struct {
	Group      string `json:"group"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// parseCatalog reads the content of CatalogFile. If the content is that of an older revision, which may have another
// format, newer is the working tree's file, and its entries are added. If both have a URL, the entry in newer is used,
// because the content of a URL does not change.
func parseCatalog(content, newer []byte) (c Catalog, err error) {
	if newer != nil && json.Unmarshal(content, &c) != nil {
		c = Catalog{}
	}
	c.Given = nil
	decoder := json.NewDecoder(strings.NewReader(cmp.Or(string(newer), string(content))))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w: restore it from Git", CatalogFile, err)
	}
	return c, nil
}

// manifests returns the objects of the release with this URL, as the catalog lists them.
func (c Catalog) manifests(address string) ([]byte, error) {
	listed, found := c.Releases[address]
	if !found {
		return nil, fmt.Errorf("%s does not list it: run go -C scripts/gitops test ./tree -run Listed -update", CatalogFile)
	}
	var all []byte
	for _, object := range listed {
		all = append(append(all, "---\n"...), append(object, '\n')...)
	}
	return all, nil
}

// defined returns the kind that a CustomResourceDefinition defines.
func defined(u *unstructured.Unstructured) (Kind, bool) {
	o := Object{Unstructured: u}
	return Kind{
		Group: o.Text("spec", "group"), Kind: o.Text("spec", "names", "kind"),
		Namespaced: o.Text("spec", "scope") == "Namespaced",
	}, u.GetKind() == "CustomResourceDefinition"
}

// Remote is a resource of a kustomization that is not in the repository. Err is the reason why it can't be rendered.
type Remote struct {
	File, URL string
	Err       error
}

// remoteEntry matches a resource for which kustomize needs a network.
var remoteEntry = regexp.MustCompile(`://|\?ref=|git@|^github\.com/`)

// localise replaces each remote resource below gitops/ by a file next to the kustomization that names it.
func (b *Builder) localise(files Files) error {
	changes := Files{}
	b.urls = map[string]string{}
	for _, file := range files.Kustomizations("gitops") {
		var k types.Kustomization
		if err := yaml.Unmarshal(files[file], &k); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		text := string(files[file])
		for i, address := range slices.Concat(k.Resources, k.Components) {
			if !remoteEntry.MatchString(address) {
				continue
			}
			content, err := b.Catalog.manifests(address)
			b.Remotes = append(b.Remotes, Remote{File: file, URL: address, Err: err})
			name := fmt.Sprintf("remote-%d.yaml", i)
			text = strings.ReplaceAll(text, address, name)
			local := path.Join(path.Dir(file), name)
			changes[local], b.urls[local] = append([]byte("# "+address+"\n"), content...), address
		}
		changes[file] = []byte(text)
	}
	b.Files = files.With(changes)
	return nil
}

var (
	fixed  = regexp.MustCompile(`^(v?\d+\.\d+\.\d+([-+][\w.+-]+)?|[0-9a-f]{40})$`)
	moving = regexp.MustCompile(`^(latest|main|master|HEAD|head|nightly)$`)
)

// Pinned reports whether the content of the URL stays the same: its ?ref= is a version or a commit or, if it is the URL
// of a file, a part of its path is a version or a commit.
func Pinned(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return false
	}
	if isGit := strings.Contains(strings.TrimPrefix(u.Path, "/"), "//"); isGit || u.Query().Has("ref") {
		return fixed.MatchString(u.Query().Get("ref"))
	}
	segments := strings.Split(u.Path, "/")
	return slices.ContainsFunc(segments, fixed.MatchString) && !slices.ContainsFunc(segments, moving.MatchString)
}
