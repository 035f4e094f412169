package tree

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Cache keeps what was rendered from which files: variants of a tree have most of their folders in common.
type Cache struct {
	rendered map[string][]entry
	read     map[string]bool
}

type entry struct {
	read    Files // content is nil where no file was found
	objects []Object
	err     error
}

// NewCache is an empty cache.
func NewCache() *Cache { return &Cache{rendered: map[string][]entry{}, read: map[string]bool{}} }

// Read reports whether a file was part of anything rendered.
func (c *Cache) Read(file string) bool { return c.read[file] }

// Render builds a folder by the kustomize of Argo CD, or returns what was built from the same files. The objects are
// shared: change copies of them only.
func (c *Cache) Render(files Files, dir string) ([]Object, error) {
	for _, known := range c.rendered[dir] {
		if known.same(files) {
			return known.objects, known.err
		}
	}
	made := entry{read: Files{}}
	made.objects, made.err = render(files, dir, made.read)
	c.rendered[dir] = append(c.rendered[dir], made)
	for name, content := range made.read {
		c.read[name] = c.read[name] || content != nil
	}
	return made.objects, made.err
}

func (e entry) same(files Files) bool {
	for name, content := range e.read {
		if now := files[name]; (now == nil) != (content == nil) || !bytes.Equal(now, content) {
			return false
		}
	}
	return true
}

// recorder notes which files are read.
type recorder struct {
	filesys.FileSystem
	files, read Files
}

func (r recorder) ReadFile(path string) ([]byte, error) {
	name := strings.TrimPrefix(path, "/")
	r.read[name] = r.files[name]
	return r.FileSystem.ReadFile(path)
}

// valid are the names that kustomize's file system in memory accepts.
var valid = regexp.MustCompile(`^[\w./:-]+$`)

func render(files Files, dir string, read Files) ([]Object, error) {
	traced, err := withOrigins(files, dir)
	if err != nil {
		return nil, err
	}
	system := filesys.MakeFsInMemory()
	for name, content := range traced {
		if !valid.MatchString(name) || strings.Contains(name, "..") {
			continue
		}
		if err := system.WriteFile("/"+name, content); err != nil {
			return nil, err
		}
	}
	built, err := kustomize(recorder{FileSystem: system, files: files, read: read}, "/"+dir)
	if err != nil {
		return nil, err
	}
	objects := make([]Object, 0, built.Size())
	for _, res := range built.Resources() {
		object, err := convert(res, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", dir, res.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func kustomize(system filesys.FileSystem, dir string) (built resmap.ResMap, err error) {
	defer func() { // Some trees make kustomize panic. Report that like other errors of the tree.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("kustomize panics: %v", reason)
		}
	}()
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(system, dir)
}

// withOrigins lets kustomize annotate each object with the file that it is from.
func withOrigins(files Files, dir string) (Files, error) {
	file, found := files.Kustomization(dir)
	if !found {
		return nil, fmt.Errorf("%s holds no kustomization.yaml", dir)
	}
	root, err := yaml.Parse(string(files[file]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	err = root.PipeE(
		yaml.LookupCreate(yaml.SequenceNode, "buildMetadata"),
		yaml.Append(yaml.NewStringRNode(types.OriginAnnotations).YNode()),
	)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	content, err := root.String()
	return files.With(Files{file: []byte(content)}), err
}

func convert(res *resource.Resource, dir string) (Object, error) {
	origin, err := res.GetOrigin()
	if err != nil {
		return Object{}, err
	}
	if err := res.SetOrigin(nil); err != nil {
		return Object{}, err
	}
	content, err := res.MarshalJSON()
	if err != nil {
		return Object{}, err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(content); err != nil {
		return Object{}, err
	}
	object := Object{Unstructured: u, Namespace: u.GetNamespace(), Wave: syncwaves.Wave(u), Images: images(u.Object)}
	if origin != nil {
		object.File = path.Join(dir, origin.Path, origin.ConfiguredIn)
	}
	return object, nil
}

// imageFlag is an argument that names an image, such as --acme-http01-solver-image=...
var imageFlag = regexp.MustCompile(`^--[\w-]*[iI]mage=(.+)$`)

// images are those that an object names: in Pods, in a catalog, in arguments, in environment variables.
func images(object map[string]any) []string {
	found := map[string]bool{}
	collectImages(object, found)
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// collectNamed collects the images in the fields of one map.
func collectNamed(fields map[string]any, found map[string]bool) {
	name, _ := fields["name"].(string)
	if text, isText := fields["value"].(string); isText && strings.HasPrefix(name, "RELATED_IMAGE_") {
		found[text] = true
	}
	switch image := fields["image"].(type) {
	case string:
		found[image] = true
	case map[string]any: // of a ClusterCatalog
		ref, _ := image["ref"].(string)
		found[ref] = true
	}
}

func collectImages(value any, found map[string]bool) {
	switch value := value.(type) {
	case string:
		if match := imageFlag.FindStringSubmatch(value); match != nil {
			found[match[1]] = true
		}
	case []any:
		for _, item := range value {
			collectImages(item, found)
		}
	case map[string]any:
		collectNamed(value, found)
		for key, item := range value {
			if key != "openAPIV3Schema" { // describes fields named image, and names no image
				collectImages(item, found)
			}
		}
	}
}
