package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/load"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

func loadCommand() *cobra.Command {
	options := load.Options{Seed: 1, Caches: 2000, For: 10 * time.Minute, Rate: 10}
	command := &cobra.Command{
		Use:   "load",
		Short: "Change many Memcacheds under faults, and check that the operator keeps up and leaks nothing",
		Args:  cobra.NoArgs,
		Example: "  go run ./test/faults load\n" +
			"  go run ./test/faults load --caches 200 --for 7m --rate 5",
		RunE: func(command *cobra.Command, _ []string) error {
			return runLoad(command.Context(), command.OutOrStdout(), options)
		},
	}
	command.Flags().Uint64Var(&options.Seed, "seed", options.Seed, "seed of the changes and faults")
	command.Flags().IntVar(&options.Caches, "caches", options.Caches, "number of Memcacheds")
	command.Flags().DurationVar(&options.For, "for", options.For, "how long they are changed")
	command.Flags().Float64Var(&options.Rate, "rate", options.Rate, "changes and faults a second")
	return command
}

func runLoad(ctx context.Context, out io.Writer, options load.Options) (err error) {
	root, err := worktree.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "faults-load-")
	if err != nil {
		return err
	}
	programs, err := build(ctx, root, dir)
	if err != nil {
		return err
	}
	all, err := campaign.Actions(root, plan.SimulatedNodes)
	if err != nil {
		return err
	}
	result, err := load.Run(ctx, root, dir, programs, options, all)
	if err != nil {
		return fmt.Errorf("%w\nThe operator's log: %s", err, filepath.Join(dir, "operator.log"))
	}
	if err := printLoad(out, result); err != nil {
		return fmt.Errorf("%w\nThe operator's log: %s", err, filepath.Join(dir, "operator.log"))
	}
	return os.RemoveAll(dir)
}

// mebibyte is the unit in which the memory is printed.
const mebibyte = 1 << 20

const (
	// few is by how many goroutines First and Last may differ, because some connections close a little later.
	few = 20

	// negligible is the growth of the heap, relative to its mean, that does not count as a leak. The heap also contains
	// the data of the current Memcacheds, whose size is never exactly the same.
	negligible = 0.02
)

func printLoad(out io.Writer, r load.Result) error {
	fmt.Fprintf(out, "%d Memcacheds, %d changes and faults in %v (seed %d), %.0f reconciliations\n",
		r.Caches, r.Steps, r.For, r.Seed, r.Reconciled)
	fmt.Fprintf(out, "The queue was empty and each status current %.0f s after the last fault\n", r.Drained.Seconds())
	fmt.Fprintf(out, "%d Memcacheds are Ready again, %d wait for a user: a third party left an object without owner\n",
		r.Caches-r.Conflicts, r.Conflicts)
	fmt.Fprintf(out, "Heap: %.1f MiB, growth %+.2f ± %.2f MiB\n",
		r.Heap.Mean/mebibyte, r.Heap.Growth/mebibyte, r.Heap.Noise/mebibyte)
	fmt.Fprintf(out, "Goroutines at rest: %d before, %d after\n", r.First, r.Last)
	err := r.Heap.Judge("bytes of the heap", negligible*r.Heap.Mean)
	if r.Last > r.First+few {
		err = errors.Join(err, errors.New("the operator has more goroutines at rest after the load than before, "+
			"so it leaks them"))
	}
	return err
}
