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

// Cache keeps, for each folder, the rendered objects and the files from which they were rendered, because the variants
// of a tree have most folders in common.
type Cache map[string][]entry

type entry struct {
	read    Files // the content is nil if kustomize did not find the file
	objects []Object
	err     error
}

// Read reports whether any folder in the cache was rendered from the file.
func (c Cache) Read(file string) bool {
	entries := slices.Concat(slices.Collect(maps.Values(c))...)
	return slices.ContainsFunc(entries, func(e entry) bool { return e.read[file] != nil })
}

// Render builds a folder by the kustomize of Argo CD, or returns what was built from the same files. All callers get
// the same objects, so they must change only copies.
func (c Cache) Render(files Files, dir string) ([]Object, error) {
	for _, known := range c[dir] {
		if known.same(files) {
			return known.objects, known.err
		}
	}
	made := entry{read: Files{}}
	made.objects, made.err = render(files, dir, made.read)
	c[dir] = append(c[dir], made)
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

// recorder records which files kustomize reads.
type recorder struct {
	filesys.FileSystem
	files, read Files
}

func (r recorder) ReadFile(path string) ([]byte, error) {
	name := strings.TrimPrefix(path, "/")
	r.read[name] = r.files[name]
	return r.FileSystem.ReadFile(path)
}

// valid matches the file names that kustomize's file system in memory accepts.
var valid = regexp.MustCompile(`^[\w./:-]+$`)

func render(files Files, dir string, read Files) ([]Object, error) {
	traced, err := files.traced(dir)
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
	return convert(built, dir, func(text string) string { return text })
}

func kustomize(system filesys.FileSystem, dir string) (built resmap.ResMap, err error) {
	defer func() { // Some trees make kustomize panic. Report that like other errors of the tree.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("kustomize panics: %v", reason)
		}
	}()
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(system, dir)
}

// traced returns a copy of the files with which kustomize annotates each object of the folder with the file that has
// it.
func (f Files) traced(dir string) (Files, error) {
	return f.appended(dir, types.Kustomization{BuildMetadata: []string{types.OriginAnnotations}})
}

// appended returns a copy of the files in which the kustomization of a folder has more items in its lists, and other
// values in its other fields.
func (f Files) appended(dir string, additions types.Kustomization) (Files, error) {
	file, found := f.Kustomization(dir)
	if !found {
		return nil, fmt.Errorf("%s holds no kustomization.yaml", dir)
	}
	root, err := yaml.Parse(string(f[file]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	lists, err := yaml.Marshal(additions)
	if err != nil {
		return nil, err
	}
	err = yaml.MustParse(string(lists)).VisitFields(func(list *yaml.MapNode) error {
		field := list.Key.YNode().Value
		if list.Value.YNode().Kind != yaml.SequenceNode {
			return root.PipeE(yaml.SetField(field, list.Value))
		}
		return root.PipeE(yaml.LookupCreate(yaml.SequenceNode, field), yaml.Append(list.Value.Content()...))
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return f.With(Files{file: []byte(root.MustString())}), nil
}

// convert returns the objects of a folder, after the function change has changed their text.
func convert(built resmap.ResMap, dir string, change func(string) string) ([]Object, error) {
	objects := make([]Object, built.Size())
	for i, res := range built.Resources() {
		if err := objects[i].read(res, dir, change); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", dir, res.CurId(), err)
		}
	}
	return objects, nil
}

func (o *Object) read(res *resource.Resource, dir string, change func(string) string) error {
	origin, err := res.GetOrigin()
	if err != nil {
		return err
	}
	if origin != nil {
		if origin.Repo != "" {
			dir = "" // In a remote repository, paths are from its root.
		}
		o.File = path.Join(dir, origin.Path, origin.ConfiguredIn)
	}
	if err := res.SetOrigin(nil); err != nil {
		return err
	}
	content, err := res.MarshalJSON()
	if err != nil {
		return err
	}
	o.Unstructured = &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(change(string(content)))); err != nil {
		return err
	}
	o.Namespace, o.Wave, o.Images = o.GetNamespace(), syncwaves.Wave(o.Unstructured), images(o.Object)
	return nil
}

// imageFlag is an argument that names an image, such as --acme-http01-solver-image=...
var imageFlag = regexp.MustCompile(`^--[\w-]*[iI]mage=(.+)$`)

// images returns the images that an object names: in Pods, in a catalog, in arguments and in environment variables.
func images(object map[string]any) []string {
	found := map[string]bool{}
	Walk(object, "", func(path string, value any) {
		if strings.Contains(path, "openAPIV3Schema") { // a schema has fields named image, and names no image
			return
		}
		switch value := value.(type) {
		case string:
			if match := imageFlag.FindStringSubmatch(value); match != nil {
				found[match[1]] = true
			}
		case map[string]any:
			image, _ := value["image"].(string)
			ref, _, _ := unstructured.NestedString(value, "image", "ref") // the image of a ClusterCatalog
			found[image], found[ref] = true, true
			if name, _ := value["name"].(string); strings.HasPrefix(name, "RELATED_IMAGE_") {
				text, _ := value["value"].(string)
				found[text] = true
			}
		}
	})
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// Walk visits each value of an object.
func Walk(value any, path string, visit func(path string, value any)) {
	visit(strings.TrimPrefix(path, "."), value)
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			Walk(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case map[string]any:
		for key, item := range value {
			Walk(item, path+"."+key, visit)
		}
	}
}

// These environment variables of the operator have the images that its caches use.
const (
	MemcachedVariable = "RELATED_IMAGE_MEMCACHED"
	AgentVariable     = "RELATED_IMAGE_AGENT"
	SnapshotVariable  = "RELATED_IMAGE_SNAPSHOT"
)

// Variables returns all values that the object gives to an environment variable, at any place.
func Variables(object map[string]any, name string) (values []string) {
	Walk(object, "", func(_ string, value any) {
		if fields, _ := value.(map[string]any); fields["name"] == name {
			text, _ := fields["value"].(string)
			values = append(values, strings.TrimSpace(text))
		}
	})
	return values
}
