package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// checkCommand is for who pushes both images: the second reference must not turn out to be wrong after the first push.
func checkCommand() *cobra.Command {
	var operator, agent string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the references that both images are to be pushed to, and push nothing",
		Example: "  go run ./scripts/images check --image localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    --agent-image localhost:15001/memcached-agent:0.2.0",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := bundle.ValidateTarget("image", withTag(operator, "latest")); err != nil {
				return err
			}
			if err := bundle.ValidateTarget("agent-image", withTag(agent, "latest")); err != nil {
				return err
			}
			if operator == agent {
				return fmt.Errorf("--agent-image %q: --image is the same, and one image would replace the other: "+
					"name another repository", agent)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&operator, "image", "", "reference to push the operator's image to (required)")
	cmd.Flags().StringVar(&agent, "agent-image", "", "reference to push the agent's image to (required)")
	return cmd
}
