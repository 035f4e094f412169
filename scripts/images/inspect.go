package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/inspect"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

func inspectCommand(options func() []name.Option) *cobra.Command {
	var root, operator, agent, memcached, output string
	var timeout time.Duration
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output %q: text and json are possible", output)
			}
			promises, err := inspect.Promises(root)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			instead := map[string]string{inspect.Operator: operator, inspect.Agent: agent, inspect.Memcached: memcached}
			var report *inspect.Report
			asked := progress.Stage(ctx, "Ask the registries", func(update func(string)) error {
				report = inspect.Compare(promises, instead, func(ref string) (oci.Description, error) {
					update(ref)
					return oci.Describe(ctx, ref, options()...)
				})
				return nil
			})
			if output == "text" {
				return errors.Join(asked, report.WriteText(cmd.OutOrStdout()), report.Err())
			}
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			return errors.Join(asked, encoder.Encode(report), report.Err())
		},
	}
	c := cmd.Flags()
	c.StringVar(&root, "root", ".", "directory of the repository")
	c.StringVar(&operator, "image", "", "the operator's image (default: that of the manifests)")
	c.StringVar(&agent, "agent-image", "", "the agent's image (default: that of the manifests)")
	c.StringVar(&memcached, "memcached-image", "", "memcached's default image (default: that of the manifests)")
	c.StringVarP(&output, "output", "o", "text", "text or json")
	c.DurationVar(&timeout, "timeout", time.Minute, "limit for all registries")
	return cmd
}
