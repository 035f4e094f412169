// Command gitops shows what Argo CD would do with gitops/, and what is wrong with it, without a cluster and without a
// network.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/fatih/color"
	log "github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
	"github.com/example-inc/memcached-operator/scripts/gitops/verify"
)

// errProblems is the error of a command that has already printed the problems it found.
var errProblems = errors.New("there are problems")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log.SetOutput(io.Discard) // drops what Argo CD's packages log
	err := newCommand().ExecuteContext(ctx)
	if err == nil {
		return
	}
	if !errors.Is(err, errProblems) {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(1)
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "gitops",
		Short:         "Show what Argo CD would do with gitops/, and what is wrong with it",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	dir := root.PersistentFlags().String("dir", ".", "the repository, or a folder in it")
	root.AddCommand(planCommand(dir), verifyCommand(dir))
	return root
}

func repositoryFlag(flags *pflag.FlagSet) *map[string]string {
	return flags.StringToString("repository", nil,
		"URL=PATH: a local repository to read instead of the one at a URL in the tree (default: this program's repository)")
}

// consumer returns the consumer's repository to which the files belong, or nil if the files belong to the operator's
// repository.
func consumer(files tree.Files, local map[string]string) (*tree.Consumer, error) {
	local = maps.Clone(local)
	if local == nil {
		local = map[string]string{}
	}
	checkout, err := tree.Root(".")
	if err == nil {
		local[""] = checkout
	}
	return files.Consumer(local)
}

type planFlags struct {
	method, arch, diff, output string
	with                       []string
	local                      *map[string]string
}

func planCommand(dir *string) *cobra.Command {
	var f planFlags
	command := &cobra.Command{
		Use:   "plan",
		Short: "Show the tree of an install method as Argo CD would apply it, or what a commit changes in it",
		Long: "Plan renders all Applications of an install method by the kustomize that Argo CD runs. It changes nothing,\n" +
			"and needs neither a cluster nor a network. With --diff it also shows of which caches the operator would replace\n" +
			"the Pods.",
		Example: "  go -C scripts/gitops run . plan --method olm --arch arm64 --with console\n" +
			"  go -C scripts/gitops run . plan --method direct --diff HEAD~1\n" +
			"  go -C scripts/gitops run . plan --dir ~/config --diff origin/main -o markdown",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return f.run(command.Context(), *dir, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.method, "method", "", "install method: "+
		"a folder of gitops/apps (omit it for a consumer's repository)")
	flags.StringVar(&f.arch, "arch", "", "architecture (default: the one in the settings)")
	flags.StringVar(&f.diff, "diff", "", "show what differs from this Git revision, instead of the whole tree")
	flags.StringVarP(&f.output, "output", "o", "text", "with --diff: text, or markdown for a comment in a pull request")
	flags.StringSliceVar(&f.with, "with", nil, "options to add, such as console: "+
		"names of lines that are comments in the tree")
	f.local = repositoryFlag(flags)
	return command
}

func (f planFlags) run(ctx context.Context, dir string, out io.Writer) error {
	if f.output != "text" && f.output != "markdown" {
		return fmt.Errorf("--output %q: choose text or markdown", f.output)
	}
	root, files, err := tree.Load(dir)
	if err != nil {
		return err
	}
	now, err := f.plan(ctx, files, nil)
	if err != nil {
		return err
	}
	if f.diff == "" {
		now.text(out, f.with)
		return nil
	}
	before, err := tree.At(root, f.diff)
	if err != nil {
		return err
	}
	var then plan // It stays empty if the revision does not have this install method.
	if before.Has(f.method) {
		f.with = slices.DeleteFunc(f.with, func(name string) bool { return !slices.Contains(before.Options(), name) })
		if then, err = f.plan(ctx, before, files[tree.CatalogFile]); err != nil {
			return fmt.Errorf("revision %s: %w", f.diff, err)
		}
	}
	return f.difference(ctx, out, then, now)
}

func (f planFlags) difference(ctx context.Context, out io.Writer, then, now plan) error {
	d := now.since(then, f.diff)
	checkout, err := tree.Root(".")
	if err != nil {
		return err
	}
	if err := d.askOperator(ctx, checkout, then, now); err != nil {
		return err
	}
	if f.output == "markdown" {
		d.markdown(out)
	} else {
		d.text(out)
	}
	return nil
}

// plan returns the plan of the files. If the files are those of an older revision, newer is the working tree's list of
// releases. Releases that are in both lists are taken from newer.
func (f planFlags) plan(ctx context.Context, files tree.Files, newer []byte) (plan, error) {
	c, err := consumer(files, *f.local)
	if err != nil {
		return plan{}, err
	}
	if c != nil {
		builder, err := c.Builder()
		if err != nil {
			return plan{}, err
		}
		return newPlan(ctx, builder, c.Method)
	}
	if err := files.CheckMethods(f.method); err != nil {
		return plan{}, err
	}
	settings, err := files.Settings()
	if err != nil {
		return plan{}, err
	}
	if files, err = files.Variant(cmp.Or(f.arch, settings["architecture"]), f.with...); err != nil {
		return plan{}, err
	}
	builder, err := tree.New(files, newer)
	if err != nil {
		return plan{}, err
	}
	return newPlan(ctx, builder, f.method)
}

func verifyCommand(dir *string) *cobra.Command {
	var o verify.Options
	var local *map[string]string
	command := &cobra.Command{
		Use:   "verify",
		Short: "Find what is wrong with the tree before Argo CD does",
		Long: "Verify renders each install method for each architecture, first without options and then with each " +
			"option. It\nchecks the result by Argo CD's code, for example against its types and the AppProjects.",
		Example: "  go -C scripts/gitops run . verify\n" +
			"  go -C scripts/gitops run . verify --method olm\n" +
			"  go -C scripts/gitops run . verify --dir ~/config",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if _, o.Files, err = tree.Load(*dir); err != nil {
				return err
			}
			if o.Consumer, err = consumer(o.Files, *local); err != nil {
				return err
			}
			report, err := verify.Run(command.Context(), o)
			if err != nil {
				return err
			}
			write(command.OutOrStdout(), report)
			if report.Errors() > 0 {
				return errProblems
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.StringSliceVar(&o.Methods, "method", nil, "install methods: folders of gitops/apps (default: all)")
	local = repositoryFlag(flags)
	return command
}

// write prints each problem on a line, and how much was verified.
func write(out io.Writer, r verify.Report) {
	paint := map[string]func(string, ...any) string{verify.Error: color.RedString, verify.Warning: color.YellowString}
	for _, problem := range r.Problems {
		fmt.Fprintf(out, "%s: %s\n", paint[problem.Level](problem.Level), problem)
	}
	fmt.Fprintf(out, "%d errors, %d warnings in %d install methods, %d variants with %d Applications and %d objects\n",
		r.Errors(), len(r.Problems)-r.Errors(), r.Methods, r.Variants, r.Applications, r.Objects)
}
