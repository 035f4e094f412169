// Package emit writes bundle and catalog, once they are found to keep every rule.
package emit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/check"
)

// Bundle writes the bundle of the repository at root into dir. What the version replaces follows from the catalog
// that is there.
func Bundle(ctx context.Context, root, dir string, o bundle.Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	known, err := catalog.Load(dir)
	if err != nil {
		return err
	}
	channel := o.Channels[0]
	previous, oldest := known.Previous(channel, o.Version)
	o.Replaces, o.SkipRange = previous, catalog.SkipRange(oldest, o.Version)
	files, err := bundle.Build(ctx, root, o)
	if err != nil {
		return err
	}
	if err := check.Errors(check.Bundle(files)); err != nil {
		return fmt.Errorf("the bundle breaks rules, and is not written: %w", err)
	}
	return files.Write(dir)
}

// Catalog adds the bundle in dir, by the reference of its image, to the catalog beside it.
func Catalog(dir, image string) error {
	c, err := catalog.Load(dir)
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
	if err := check.Errors(check.Catalog(c)); err != nil {
		return fmt.Errorf("the catalog breaks rules, and is not written: %w", err)
	}
	text, err := c.String()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, catalog.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
