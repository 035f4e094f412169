package main

import (
	"context"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/faults/variants"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// build builds the operators of a campaign into the folder dir.
func build(ctx context.Context, root, dir string, edits ...variants.Edit) (world.Programs, error) {
	programs := world.Programs{Operator: filepath.Join(dir, "operator"), Next: filepath.Join(dir, "next-operator")}
	return programs, progress.Stage(ctx, "Operators", func(func(string)) error {
		next, err := variants.Next(root)
		if err != nil {
			return err
		}
		if err := variants.Build(ctx, root, programs.Next, append(next, variants.Hurry()...)...); err != nil {
			return err
		}
		return variants.Build(ctx, root, programs.Operator, append(variants.Hurry(), edits...)...)
	})
}
