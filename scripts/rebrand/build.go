package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// generators write what depends on the names by more than their text: by order, by hash, by the width of a column.
var generators = [][]string{
	{"make", "generate", "manifests", "api-docs"},
	{"go", "run", "./scripts/release", "renew"},
	{"make", "golden"},
}

func (c *copied) generate(ctx context.Context, update func(string)) error {
	for _, generator := range generators {
		update(strings.Join(generator, " "))
		if err := c.run(ctx, c.dir, generator...); err != nil {
			return err
		}
	}
	return nil
}

// build builds each module that has packages of its own, and each overlay.
func (c *copied) build(ctx context.Context, update func(string)) error {
	for _, module := range []string{".", "scripts/gitops", "test/bench/plot", "test/helm"} {
		update("module " + module)
		if err := c.run(ctx, filepath.Join(c.dir, module), "go", "build", "-o", os.DevNull, "./..."); err != nil {
			return err
		}
	}
	return c.overlays(update)
}

// overlays builds each overlay by kustomize.
func (c *copied) overlays(update func(string)) error {
	overlays, err := filepath.Glob(filepath.Join(c.dir, "overlays", "*", "kustomization.yaml"))
	if err != nil {
		return err
	}
	for _, file := range overlays {
		dir := filepath.Dir(file)
		update("overlay " + filepath.Base(dir))
		if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir); err != nil {
			return fmt.Errorf("kustomize cannot build overlays/%s: %w", filepath.Base(dir), err)
		}
	}
	return nil
}

func (c *copied) run(ctx context.Context, dir string, words ...string) error {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir = dir
	command.Env = environment()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return nil
}

// environment is without what make hands to its children: it would give the parameters of make rebrand to another make.
func environment() []string {
	return slices.DeleteFunc(worktree.Environment(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{
			"MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "MODULE", "GROUP", "REGISTRY", "NAME", "ARGS",
		}, name)
	})
}
