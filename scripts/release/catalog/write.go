package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// WriteBundle generates the bundle of the repository at root into dir. Which version it replaces follows from the
// catalog in dir.
func WriteBundle(ctx context.Context, root, dir string, o bundle.Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	c, err := Load(dir)
	if err != nil {
		return err
	}
	o.Replaces, o.SkipRange = c.Previous(o.Channels[0], o.Version)
	files, err := bundle.Build(ctx, root, o)
	if err != nil {
		return err
	}
	return files.Write(dir)
}

// AddBundle adds the bundle in dir, by the reference of its image, to the catalog beside it.
func AddBundle(dir, image string) error {
	c, err := Load(dir)
	if err != nil {
		return err
	}
	files, err := bundle.Read(dir)
	if err != nil {
		return err
	}
	if err := c.Add(files, image); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("%s, which is not written: %w", Path, err)
	}
	text, err := c.String()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
