// Command bench measures the speed and size of the operator, and compares them with bounds. If a figure exceeds its
// bound, the report says so, but the command does not fail.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
	"github.com/example-inc/memcached-operator/test/bench/scenarios"
)

func main() {
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	bench := scenarios.Defaults()
	var only []string
	var page string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed and size of the operator against bounds",
		Long: "Bench measures the operator's own binary on a real API server and etcd. Run it on a machine that does\n" +
			"nothing else. The scenarios are " + strings.Join(scenarios.Names(), ", ") + ".\n" +
			"Bench leaves out large, which takes more than an hour, unless --only names it.",
		Example: "  make bench\n" +
			"  make bench ARGS='--only create,drift --runs 1'\n" +
			"  make bench ARGS='--only growth --sizes 10,500,1000,2000'\n" +
			"  make bench ARGS='--only large'\n" +
			"  make bench PROFILE=1",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen, err := scenarios.Choose(only, os.Getuid() == 0)
			if err != nil {
				return err
			}
			if len(only) == 0 && os.Getuid() != 0 {
				progress.Note(cmd.Context(), "Without root, the scenarios that run Pods are left out.")
			}
			if page != "" {
				bench.Pictures = filepath.Dir(page)
			}
			if err := validate(bench); err != nil {
				return err
			}
			return run(cmd.Context(), cmd.OutOrStdout(), bench, chosen, page, repeat(cmd.Flags()))
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "scenarios to measure; all except large by default")
	cmd.Flags().StringVar(&page, "page", "", "page to write the figures to; none by default")
	cmd.Flags().IntVar(&bench.Runs, "runs", bench.Runs, "number of runs of what is compared; the median counts")
	cmd.Flags().IntVar(&bench.Count, "count", bench.Count, "number of Memcacheds to create at a time")
	cmd.Flags().IntSliceVar(&bench.Sizes, "sizes", bench.Sizes, "numbers of Memcacheds in the scenario growth")
	cmd.Flags().IntVar(&bench.Keys, "keys", bench.Keys, "number of keys in a cache whose Pods are replaced")
	cmd.Flags().StringVar(&bench.Profiles, "profiles", "", "folder for CPU and heap profiles; none by default")
	return cmd
}

func validate(b scenarios.Bench) error {
	switch {
	case b.Runs < 1:
		return fmt.Errorf("--runs %d: use at least 1", b.Runs)
	case b.Count < 1:
		return fmt.Errorf("--count %d: use at least 1", b.Count)
	case b.Keys < 10:
		return fmt.Errorf("--keys %d: use at least 10", b.Keys)
	case len(b.Sizes) == 0 || b.Sizes[0] < 1 || len(slices.Compact(slices.Clone(b.Sizes))) < len(b.Sizes) ||
		!slices.IsSorted(b.Sizes):
		return fmt.Errorf("--sizes %v: use numbers from 1 on, each larger than the one before", b.Sizes)
	}
	return nil
}

// repeat returns the command line that repeats the same measurements.
func repeat(flags *pflag.FlagSet) string {
	var args []string
	flags.Visit(func(flag *pflag.Flag) {
		if flag.Name != "page" && flag.Name != "profiles" {
			args = append(args, fmt.Sprintf("--%s %s", flag.Name, strings.Trim(flag.Value.String(), "[]")))
		}
	})
	if len(args) == 0 {
		return "make bench"
	}
	return "make bench ARGS='" + strings.Join(args, " ") + "'"
}

func run(
	ctx context.Context, out io.Writer, bench scenarios.Bench, chosen []scenarios.Scenario, page, repeat string,
) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(bench.Run)) }()
	if err := prepare(ctx, &bench.Folders); err != nil {
		return err
	}
	version, err := builds.Kubernetes.Version()
	if err != nil {
		return err
	}
	measuredOn := environment.Machine(version) + ", by `" + repeat + "`"
	var all []report.Figure
	for _, scenario := range chosen {
		figures := scenario.Measure(ctx, bench)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if page != "" {
			if err := report.WritePage(page, scenario.Name, scenario.Picture(), figures, measuredOn); err != nil {
				return err
			}
		}
		all = append(all, figures...)
	}
	return report.Text(out, all)
}

// prepare makes a folder for the run, and compiles what the run needs.
func prepare(ctx context.Context, folders *environment.Folders) (err error) {
	if folders.Tree, err = builds.Root(); err != nil {
		return err
	}
	if folders.Run, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	folders.Programs = folders.Run
	if _, err := builds.Assets(ctx); err != nil { // The first time, this compiles Kubernetes, for minutes.
		return err
	}
	return progress.Stage(ctx, "Operator and baseline", func(func(string)) error { return folders.Build(ctx) })
}
