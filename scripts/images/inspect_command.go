package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/inspect"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// inspectFlags are those of the command inspect.
type inspectFlags struct {
	root, operator, agent, memcached, output string
	timeout                                  time.Duration
}

func (f *flags) inspectCommand() *cobra.Command {
	i := &inspectFlags{}
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Compare the platforms of the images with those that the manifests promise",
		Long: "Inspect asks the registries for all images that the manifests name: of the operator, of what runs\n" +
			"beside it, of caches, and of the agent in them. It fails if an overlay's or the bundle's node affinity,\n" +
			"OPERAND_ARCHITECTURES or labels promise an architecture that an image is not there for. Run it in the root of\n" +
			"the repository.",
		Example: "  go run ./scripts/images inspect --image localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    --agent-image localhost:15001/memcached-agent:0.2.0 \\\n" +
			"    --memcached-image localhost:15001/memcached:1.6.18",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.inspect(cmd, i) },
	}
	c := cmd.Flags()
	c.StringVar(&i.root, "root", ".", "folder of the repository")
	c.StringVar(&i.operator, "image", "", "the operator's image (default: that of the manifests)")
	c.StringVar(&i.agent, "agent-image", "", "the agent's image (default: that of the manifests)")
	c.StringVar(&i.memcached, "memcached-image", "",
		"image of a Memcached that names none (default: that of the manifests)")
	c.StringVarP(&i.output, "output", "o", "text", "text or json")
	c.DurationVar(&i.timeout, "timeout", time.Minute, "how long the registries may take")
	return cmd
}

func (f *flags) inspect(cmd *cobra.Command, i *inspectFlags) error {
	if i.output != "text" && i.output != "json" {
		return fmt.Errorf("--output %q: text and json are possible", i.output)
	}
	promises, err := inspect.Promises(i.root)
	if err != nil {
		return err
	}
	report, err := f.compare(cmd.Context(), i, promises)
	if err != nil {
		return err
	}
	write := report.WriteText
	if i.output == "json" {
		write = report.WriteJSON
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	return report.Err()
}

func (f *flags) compare(
	ctx context.Context, i *inspectFlags, promises []inspect.Promise,
) (report *inspect.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, i.timeout)
	defer cancel()
	instead := map[string]string{inspect.Operator: i.operator, inspect.Agent: i.agent, inspect.Memcached: i.memcached}
	err = progress.Stage(ctx, "Ask the registries", func(update func(string)) error {
		report = inspect.Compare(ctx, promises, instead, func(ctx context.Context, ref string) (oci.Description, error) {
			update(ref)
			return oci.Describe(ctx, ref, f.options()...)
		})
		return nil
	})
	return report, err
}
