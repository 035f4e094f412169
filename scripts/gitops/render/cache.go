package render

import (
	"bytes"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// Cache keeps what was built from which files: variants of a tree have most of their folders in common.
type Cache struct {
	built map[string][]entry
	read  map[string]bool
}

type entry struct {
	read    repo.Files // content is nil where there was no file
	objects []Object
	err     error
}

// NewCache is an empty cache.
func NewCache() *Cache { return &Cache{built: map[string][]entry{}, read: map[string]bool{}} }

// Read tells whether anything was built of a file.
func (c *Cache) Read(file string) bool { return c.read[file] }

// Build builds a folder, or returns what was built from files with the same content. The objects are shared: whoever
// changes one changes a copy.
func (c *Cache) Build(files repo.Files, dir string) ([]Object, error) {
	for _, known := range c.built[dir] {
		if known.holds(files) {
			return known.objects, known.err
		}
	}
	made := entry{read: repo.Files{}}
	made.objects, made.err = build(files, dir, made.read)
	c.built[dir] = append(c.built[dir], made)
	for name, content := range made.read {
		c.read[name] = c.read[name] || content != nil
	}
	return made.objects, made.err
}

// holds: nothing that was read has another content now.
func (e entry) holds(files repo.Files) bool {
	for name, content := range e.read {
		now, found := files[name]
		if found != (content != nil) || !bytes.Equal(now, content) {
			return false
		}
	}
	return true
}

// recorder notes what is read.
type recorder struct {
	filesys.FileSystem
	files, read repo.Files
}

func (r recorder) ReadFile(path string) ([]byte, error) {
	name := strings.TrimPrefix(path, "/")
	r.read[name] = r.files[name]
	return r.FileSystem.ReadFile(path)
}
