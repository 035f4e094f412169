package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/gitops/paint"
	"github.com/example-inc/memcached-operator/scripts/gitops/verify"
)

//go:embed testdata/health
var fixtures embed.FS

type verifyChoices struct {
	choices
	ways   []string
	strict bool
}

func verifyCommand() *cobra.Command {
	var c verifyChoices
	command := &cobra.Command{
		Use:   "verify",
		Short: "Find what is wrong with the tree before Argo CD does",
		Long: "Verify renders each way for each architecture, without options and with each of them, and holds it against\n" +
			"Argo CD's own code: its types, its AppProjects, its engine for health checks.",
		Example: "  go -C scripts/gitops run . verify\n" +
			"  go -C scripts/gitops run . verify --strict --method olm\n" +
			"  go -C scripts/gitops run . verify --sources fetch -o json",
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	c.add(flags)
	flags.BoolVar(&c.strict, "strict", false, "an example that is left in the settings is an error")
	flags.StringSliceVar(&c.ways, "method", nil, "overlays of gitops/apps/overlays (default: all of them)")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return c.run(command.Context(), command.OutOrStdout())
	}
	return command
}

func (c *verifyChoices) run(ctx context.Context, out io.Writer) error {
	_, files, err := c.load()
	if err != nil {
		return err
	}
	health, err := fs.Sub(fixtures, "testdata/health")
	if err != nil {
		return err
	}
	report, err := verify.Run(ctx, verify.Options{
		Files: files, Sources: c.sources, Ways: c.ways, Strict: c.strict, Fixtures: health,
	})
	if err != nil {
		return err
	}
	err = write(out, c.output, report, func(out io.Writer, colours paint.Colours) { text(out, colours, report) })
	if err == nil && report.Errors() > 0 {
		return errProblems
	}
	return err
}

// text writes a problem a line, and then how much was looked at.
func text(out io.Writer, c paint.Colours, r verify.Report) {
	for _, problem := range r.Problems {
		level := c.Warn(problem.Level)
		if problem.Level == verify.Error {
			level = c.Bad(problem.Level)
		}
		fmt.Fprintf(out, "%s: %s\n", level, problem)
	}
	summary := fmt.Sprintf("%d errors, %d warnings", r.Errors(), len(r.Problems)-r.Errors())
	if len(r.Problems) == 0 {
		summary = c.Good(summary)
	}
	fmt.Fprintf(out, "%s in %d ways, %d variants with %d Applications and %d objects, %d health checks with %d fixtures\n",
		summary, r.Checked.Ways, r.Checked.Variants, r.Checked.Applications, r.Checked.Objects,
		r.Checked.HealthChecks, r.Checked.Fixtures)
}
