// Command bench measures how fast and how small the operator is, against what it must reach. Its table says what falls
// short; that fails nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
	"github.com/example-inc/memcached-operator/test/bench/rows"
)

func main() {
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := new(flags).command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

type flags struct {
	rows.Options

	only   []string
	output string
	page   string

	changed []string // flags that were set
}

func (f *flags) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the operator against what it must reach",
		Long: "Bench measures the operator's own binary on a real API server and etcd. Its figures are of use only on a\n" +
			"machine that does nothing else meanwhile. The rows are " + strings.Join(rows.Names(), ", ") + ".",
		Example: "  make bench\n" +
			"  make bench ARGS='--only create,drift --runs 1'\n" +
			"  make bench ARGS='--only growth --sizes 10,500,1000,2000'\n" +
			"  make bench PROFILE=1",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Flags().Visit(f.note)
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "rows to measure; all by default")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&f.page, "page", "", "page to write the figures and plots into; none by default")
	cmd.Flags().IntVar(&f.Runs, "runs", 5, "how often what is compared is measured; the median counts")
	cmd.Flags().IntVar(&f.Count, "count", 1000, "Memcacheds that are made at a time")
	cmd.Flags().IntSliceVar(&f.InFlight, "in-flight", []int{1, 10}, "writes that are under way at a time")
	cmd.Flags().IntVar(&f.Damages, "damages", 100, "children that are deleted or changed, one by one")
	cmd.Flags().IntSliceVar(&f.Sizes, "sizes", []int{10, 500, 1000, 5000, 10000}, "Memcacheds in a cluster that grows")
	cmd.Flags().IntVar(&f.Changes, "changes", 50, "specs that are changed, one by one")
	cmd.Flags().DurationVar(&f.Rest, "rest", time.Minute, "how long nothing happens")
	cmd.Flags().DurationVar(&f.Resync, "resync", 30*time.Second, "the operator's --sync-period where that is measured")
	cmd.Flags().StringVar(&f.Pure, "benchtime", "1s", "how long each benchmark runs, as go test takes it")
	cmd.Flags().StringVar(&f.Profiles, "profiles", "", "folder for CPU and heap profiles of the operator; none by default")
	return cmd
}

func (f *flags) run(ctx context.Context, out io.Writer) error {
	chosen, err := rows.Choose(f.only)
	if err != nil {
		return err
	}
	if err := f.validate(); err != nil {
		return err
	}
	measured, err := f.measure(ctx, chosen)
	if err != nil {
		return err
	}
	if f.page != "" {
		if err := publish(measured, f.page); err != nil {
			return err
		}
	}
	if f.output == "json" {
		return writeJSON(out, measured)
	}
	return measured.Text(out)
}

func (f *flags) validate() error {
	if f.output != "text" && f.output != "json" {
		return fmt.Errorf("--output %q: want text or json", f.output)
	}
	for name, number := range map[string]int{
		"runs": f.Runs, "count": f.Count, "damages": f.Damages, "changes": f.Changes,
		"in-flight": slices.Min(append(f.InFlight, 1)),
	} {
		if number < 1 {
			return fmt.Errorf("--%s %d: want at least 1", name, number)
		}
	}
	if len(f.Sizes) == 0 || len(f.InFlight) == 0 {
		return errors.New("--sizes and --in-flight want a number at least")
	}
	before := 0
	for _, size := range f.Sizes {
		if size <= before {
			return fmt.Errorf("--sizes %s: each has to be more than the one before", commas(f.Sizes))
		}
		before = size
	}
	return nil
}

func commas(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
}

func (f *flags) measure(ctx context.Context, chosen []rows.Row) (measured report.Report, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return measured, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &rows.Bench{Options: f.Options, Dir: dir}
	if b.Tree, err = builds.Root(); err != nil {
		return measured, err
	}
	version, err := builds.Kubernetes.Version()
	if err != nil {
		return measured, err
	}
	machine := report.ThisMachine(version, f.repeat())
	if _, err := builds.Assets(ctx); err != nil { // The first time this takes minutes.
		return measured, err
	}
	err = progress.Stage(ctx, "Operator and floor", func(func(string)) (err error) {
		b.Programs, err = lab.Build(ctx, b.Tree, dir)
		return err
	})
	if err != nil {
		return measured, err
	}
	for _, row := range chosen {
		if ctx.Err() != nil {
			break
		}
		result := row.Measure(ctx, b)
		result.Machine = machine
		measured = append(measured, result)
	}
	return measured, ctx.Err()
}

// repeat is the command that measures the same again.
func (f *flags) repeat() string {
	if len(f.changed) == 0 {
		return "make bench"
	}
	return "make bench ARGS='" + strings.Join(f.changed, " ") + "'"
}

// note remembers what was asked for beyond the defaults, but for where it goes.
func (f *flags) note(flag *pflag.Flag) {
	if !slices.Contains([]string{"page", "output", "profiles"}, flag.Name) {
		f.changed = append(f.changed, fmt.Sprintf("--%s %s", flag.Name, strings.Trim(flag.Value.String(), "[]")))
	}
}
