package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/scripts/gitops/paint"
	"github.com/example-inc/memcached-operator/scripts/gitops/plan"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// choices are what commands are told.
type choices struct {
	dir, sources, output string
}

func (c *choices) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.dir, "dir", ".", "the repository, or a folder in it")
	flags.StringVar(&c.sources, "sources", tree.Skip,
		"where other projects' releases are from: skip (by the list in gitops/sources.json), fetch, or the\n"+
			"absolute path of a folder with copies, https://HOST/PATH as HOST/PATH")
	flags.StringVarP(&c.output, "output", "o", "text", "text or json")
}

// load reads the repository.
func (c *choices) load() (root string, files repo.Files, err error) {
	if c.output != "text" && c.output != "json" {
		return "", nil, fmt.Errorf("--output %q: text and json are possible", c.output)
	}
	if root, err = repo.Root(c.dir); err != nil {
		return "", nil, err
	}
	files, err = repo.Load(root)
	return root, files, err
}

type planChoices struct {
	choices
	way, arch, diff string
	with            []string
}

func planCommand() *cobra.Command {
	var c planChoices
	command := &cobra.Command{
		Use:   "plan",
		Short: "Show the tree of a way as Argo CD would apply it, or what a commit changes in it",
		Long: "Plan renders all Applications of a way by the kustomize that Argo CD runs. Nothing on disk is changed,\n" +
			"and neither a cluster nor a network is needed.",
		Example: "  go -C scripts/gitops run . plan --method olm --arch arm64\n" +
			"  go -C scripts/gitops run . plan --method direct --diff HEAD~1\n" +
			"  go -C scripts/gitops run . plan --method olm --with console -o json",
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	c.add(flags)
	flags.StringVar(&c.way, "method", "", "the overlay of gitops/apps/overlays (required)")
	flags.StringVar(&c.arch, "arch", "", "architecture (default: the one in the settings)")
	flags.StringVar(&c.diff, "diff", "", "show what differs from this Git revision instead")
	flags.StringSliceVar(&c.with, "with", nil, "options, such as console, whose lines are comments in the tree")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return c.run(command.Context(), command.OutOrStdout())
	}
	return command
}

func (c *planChoices) run(ctx context.Context, out io.Writer) error {
	root, files, err := c.load()
	if err != nil {
		return err
	}
	if ways := files.Ways(); !slices.Contains(ways, c.way) {
		return fmt.Errorf("--method %q: choose one of %s", c.way, strings.Join(ways, ", "))
	}
	catalog, err := source.Parse(files[source.File])
	if err != nil {
		return err
	}
	now, err := c.plan(ctx, files, catalog, c.with)
	if err != nil {
		return err
	}
	if c.diff == "" {
		return write(out, c.output, now, now.Text)
	}
	then, err := c.planAt(ctx, root, catalog)
	if err != nil {
		return err
	}
	diff := plan.Compare(then, now, c.diff)
	return write(out, c.output, diff, diff.Text)
}

// plan plans a variant of the files.
func (c *planChoices) plan(
	ctx context.Context, files repo.Files, catalog source.Catalog, with []string,
) (plan.Plan, error) {
	settings, err := files.Settings()
	if err != nil {
		return plan.Plan{}, err
	}
	if files, err = files.WithArchitecture(cmp.Or(c.arch, settings.Architecture)); err != nil {
		return plan.Plan{}, err
	}
	if files, err = files.WithOptions(with...); err != nil {
		return plan.Plan{}, err
	}
	builder, err := tree.PrepareBy(ctx, files, c.sources, catalog)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.New(ctx, builder, c.way, with)
}

// planAt plans what a revision holds. Where it has no such way yet, that is nothing.
func (c *planChoices) planAt(ctx context.Context, root string, catalog source.Catalog) (plan.Plan, error) {
	files, err := repo.At(root, c.diff)
	if err != nil || !slices.Contains(files.Ways(), c.way) {
		return plan.Plan{}, err
	}
	if content, found := files[source.File]; found {
		then, err := source.Parse(content)
		if err != nil {
			return plan.Plan{}, fmt.Errorf("revision %s: %w", c.diff, err)
		}
		catalog = then.Over(catalog)
	}
	planned, err := c.plan(ctx, files, catalog, slices.DeleteFunc(slices.Clone(c.with), func(name string) bool {
		return !files.Offers(name)
	}))
	if err != nil {
		return planned, fmt.Errorf("revision %s: %w", c.diff, err)
	}
	return planned, nil
}

// write prints a result as it is wanted.
func write(out io.Writer, format string, result any, text func(io.Writer, paint.Colours)) error {
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(result)
	}
	text(out, paint.For(out))
	return nil
}

// errProblems is the end of a command that has said already what is wrong.
var errProblems = errors.New("there are problems")
