package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/gitops/paint"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

type sourcesChoices struct {
	choices
	write bool
}

func sourcesCommand() *cobra.Command {
	var c sourcesChoices
	command := &cobra.Command{
		Use:   "sources",
		Short: "List what the tree takes from other projects, and write that list",
		Long: "The list, gitops/sources.json, names the objects of each release, and nothing that is the other project's\n" +
			"work. By it the tree is judged where the releases themselves can't be had.",
		Example: "  go -C scripts/gitops run . sources\n" +
			"  go -C scripts/gitops run . sources --sources fetch --write\n" +
			"  go -C scripts/gitops run . sources --sources /srv/mirror --write",
		Args: cobra.NoArgs,
	}
	c.add(command.Flags())
	command.Flags().BoolVar(&c.write, "write", false, "write gitops/sources.json by what the releases hold")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return c.run(command.Context(), command.OutOrStdout())
	}
	return command
}

func (c *sourcesChoices) run(ctx context.Context, out io.Writer) error {
	root, files, err := c.load()
	if err != nil {
		return err
	}
	catalog, err := source.Parse(files[source.File])
	if err != nil {
		return err
	}
	if c.sources == tree.Skip {
		if c.write {
			return errors.New("--write needs the releases: name where they are from by --sources fetch or --sources DIR")
		}
		return write(out, c.output, listing{catalog}, listing{catalog}.text)
	}
	builder, err := tree.PrepareBy(ctx, files, c.sources, catalog)
	if err != nil {
		return err
	}
	catalog, err = described(builder, catalog)
	if err != nil {
		return err
	}
	if err := write(out, c.output, listing{catalog}, listing{catalog}.text); err != nil || !c.write {
		return err
	}
	content, err := catalog.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, source.File), content, 0o644)
}

// described lists what the sources really hold.
func described(builder *tree.Builder, before source.Catalog) (source.Catalog, error) {
	catalog := source.Catalog{Releases: map[string][]source.Object{}, Given: before.Given}
	var errs []error
	for address, err := range builder.Failed {
		errs = append(errs, fmt.Errorf("%s: %w", address, err))
	}
	for address, content := range builder.Contents {
		objects, err := source.Describe(content)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", address, err))
		}
		catalog.Releases[address] = objects
	}
	return catalog, errors.Join(errs...)
}

// listing prints a catalog.
type listing struct{ source.Catalog }

func (l listing) text(out io.Writer, c paint.Colours) {
	for _, address := range slices.Sorted(maps.Keys(l.Releases)) {
		kinds := map[string]int{}
		for _, object := range l.Releases[address] {
			kinds[object.Kind]++
		}
		fmt.Fprintf(out, "%s\n", c.Bold(address))
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			fmt.Fprintf(out, "  %3d %s\n", kinds[kind], c.Kind(kind))
		}
	}
}
