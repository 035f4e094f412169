// Command rebrand gives the project another module path, API group, registry and name: what a fork does first.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var change identity
	var check string
	var dryRun bool
	command := &cobra.Command{
		Use:   "rebrand",
		Short: "Change module path, API group, registry and project name everywhere",
		Long: "Rebrand reads the current names from go.mod, PROJECT and Makefile, and replaces them in the text and the\n" +
			"path of every file. It works in a copy: there it generates what is generated, builds all modules and all\n" +
			"overlays, and looks for old names. Only then it changes this tree. A name that you leave out stays.\n" +
			"The tree must have no uncommitted changes; git restore undoes a rebrand. docs/forking.md explains each name.",
		Example: "  go run ./scripts/rebrand --module github.com/YOU/REPOSITORY --group cache.YOUR.DOMAIN \\\n" +
			"    --registry ghcr.io/YOU --name YOU-memcached --dry-run",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	flags := command.Flags()
	flags.StringVar(&change.Module, "module", "", "path of the Go module: the address of the repository without https://")
	flags.StringVar(&change.Group, "group", "", "API group, and prefix of the annotations: a DNS name of yours")
	flags.StringVar(&change.Registry, "registry", "", "registry of the images: host, port and path")
	flags.StringVar(&change.Name, "name", "", "name of the project, with which the names of its objects begin")
	flags.StringVar(&check, "check", "", "command to run in the rebranded copy too, such as 'make test'")
	flags.BoolVar(&dryRun, "dry-run", false, "change nothing, and print what would change")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := worktree.Git(command.Context(), ".", "rev-parse", "--show-toplevel")
		if err != nil {
			return err
		}
		c := &copied{root: strings.TrimSpace(root), out: command.OutOrStdout()}
		return c.rebrand(command.Context(), change, check, dryRun)
	}
	return command
}
