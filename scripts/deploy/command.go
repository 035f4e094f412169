package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// flags are those that every command has.
type flags struct {
	kubeconfig string
	context    string
	output     string
	timeout    time.Duration
	overrides  overrides
}

// action is what a command does with the objects of a build.
type action func(context.Context, *cluster, []*unstructured.Unstructured, *reporter) error

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "deploy",
		Short: "Apply, delete, compare or await a kustomize build, by server-side apply",
		Long: "Deploy builds a directory with kustomize and works with the objects of the build.\n" +
			"It needs neither kubectl nor the kustomize program.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	p := root.PersistentFlags()
	p.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)")
	p.StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current one)")
	p.StringVarP(&f.output, "output", "o", "text", "text (a line per object) or json (one document)")
	p.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long the whole command may take")
	p.StringArrayVar(&f.overrides.images, "set-image", nil,
		"NAME=REF: use another image than the build names, by its name or the last part of it (repeatable)")
	p.StringArrayVar(&f.overrides.env, "set-env", nil,
		"CONTAINER/VARIABLE=VALUE: set an environment variable (repeatable)")
	root.AddCommand(applyCommand(f), deleteCommand(f), diffCommand(f), waitCommand(f))
	return root
}

func applyCommand(f *flags) *cobra.Command {
	o := &applyOptions{}
	command := &cobra.Command{
		Use:   "apply DIR",
		Short: "Bring the objects into the cluster and wait until they are ready",
		Long: "Apply brings CRDs, Namespaces and ClusterRoles into the cluster first, waits until they are\n" +
			"established, and then brings the rest. What is there already as wanted is not written again.\n" +
			"An object that something else applied is never taken over without --adopt.",
		Example: "  go run ./scripts/deploy apply overlays/amd64 \\\n" +
			"    --set-image memcached-operator=localhost:5001/memcached-operator:dev \\\n" +
			"    --set-image memcached-agent=localhost:5001/memcached-agent:dev",
	}
	command.Flags().BoolVar(&o.adopt, "adopt", false, "take over objects that something else applied")
	command.Flags().BoolVar(&o.noWait, "no-wait", false, "do not wait until everything is ready")
	return f.bind(command, o.apply)
}

func deleteCommand(f *flags) *cobra.Command {
	o := &deleteOptions{}
	command := &cobra.Command{
		Use:   "delete DIR",
		Short: "Remove what apply brought, and wait until it is gone",
		Long: "Delete removes the objects of the build in the reverse order of apply. Those that this program\n" +
			"did not apply are kept, and it says so. A Namespace takes everything in it along. A CRD with\n" +
			"custom resources that are not part of the build is only deleted with --cascade.",
		Example: "  go run ./scripts/deploy delete overlays/amd64",
	}
	command.Flags().BoolVar(&o.cascade, "cascade", false, "let custom resources go with their definition")
	command.Flags().BoolVar(&o.noWait, "no-wait", false, "do not wait until everything is gone")
	return f.bind(command, o.remove)
}

func diffCommand(f *flags) *cobra.Command {
	command := &cobra.Command{
		Use:   "diff DIR",
		Short: "Tell what apply would change, field by field, without changing it",
		Long: "Diff asks the API server, by a dry run, what would become of each object.\n" +
			"It exits with 0 if apply would change nothing, 1 if it would change something, 2 on an error.\n" +
			"(go run itself turns every failure into 1.)",
		Example: "  go run ./scripts/deploy diff overlays/amd64 -o json",
	}
	return f.bind(command, diff)
}

func waitCommand(f *flags) *cobra.Command {
	command := &cobra.Command{
		Use:     "wait DIR",
		Short:   "Wait until the objects are ready, whoever applied them",
		Long:    "Wait follows the status of each object and ends when all are ready, or says what is missing.",
		Example: "  go run ./scripts/deploy wait operator/config/samples --timeout 2m",
	}
	return f.bind(command, wait)
}

// bind gives a command its argument and its frame: build, connect, act in time, report.
func (f *flags) bind(command *cobra.Command, act action) *cobra.Command {
	command.Args = oneDirectory
	command.RunE = func(command *cobra.Command, args []string) error {
		report, err := newReporter(command.OutOrStdout(), f.output)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(command.Context(), f.timeout)
		defer cancel()
		return report.finish(f.perform(ctx, args[0], act, report))
	}
	return command
}

func oneDirectory(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one kustomize directory, such as overlays/amd64 (--help shows more)")
	}
	return nil
}

func (f *flags) perform(ctx context.Context, dir string, act action, r *reporter) error {
	objects, err := build(dir, f.overrides)
	if err != nil {
		return err
	}
	c, err := dial(f.kubeconfig, f.context)
	if err != nil {
		return err
	}
	return act(ctx, c, objects, r)
}
