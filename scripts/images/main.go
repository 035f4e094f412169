// Command images builds the project's container images without Docker, pushes them, and compares the platforms of
// images with those that the manifests promise.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/images/inspect"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:          "images",
		Short:        "Build the project's container images without Docker, push them, and inspect pushed images",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	insecure := root.PersistentFlags().Bool("insecure", false,
		"plain HTTP also to a registry that is not on this machine")
	options := func() []name.Option {
		if *insecure {
			return []name.Option{name.Insecure}
		}
		return nil
	}
	root.AddCommand(buildCommand(options), inspectCommand(options))
	return root
}

func inspectCommand(options func() []name.Option) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Compare the platforms of the images with those that the manifests promise",
		Long: "Asks the registries for all images that the manifests name: of the operator, the agent and memcached.\n" +
			"Fails if the node affinity, OPERAND_ARCHITECTURES or the labels of an overlay or the bundle promise an\n" +
			"architecture that an image lacks.",
		Example: "  go run ./scripts/images inspect --image localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    --agent-image localhost:15001/memcached-agent:0.2.0 \\\n" +
			"    --memcached-image localhost:15001/memcached:1.6.18",
		Args: cobra.NoArgs,
	}
	operator := cmd.Flags().String("image", "", "the operator's image (default: that of the manifests)")
	agent := cmd.Flags().String("agent-image", "", "the agent's image (default: that of the manifests)")
	memcached := cmd.Flags().String("memcached-image", "", "memcached's default image (default: that of the manifests)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		promises, err := inspect.Promises(".")
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
		defer cancel()
		instead := map[string]string{inspect.Operator: *operator, inspect.Agent: *agent, inspect.Memcached: *memcached}
		var report inspect.Report
		err = progress.Stage(ctx, "Ask the registries", func(update func(string)) error {
			report = inspect.Compare(promises, instead, func(ref string) (oci.Description, error) {
				update(ref)
				return oci.Describe(ctx, ref, options()...)
			})
			return nil
		})
		return errors.Join(err, report.WriteText(cmd.OutOrStdout()), report.Err())
	}
	return cmd
}
