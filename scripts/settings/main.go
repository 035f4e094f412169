// Command settings writes gitops/settings/settings.yaml: where the Git repository and the images are that Argo CD uses.
package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	var c values.Choices
	command := &cobra.Command{
		Use:   "settings",
		Short: "Write the settings of gitops/, with their comments and in their order",
		Long: "Settings checks all values before it writes any. Commit and push the file afterwards: Argo CD reads it\n" +
			"from Git.",
		Example: "  go run ./scripts/settings --repo https://git.example.com/team/memcached-operator.git \\\n" +
			"    --revision main --registry registry.example.com/team --version 0.1.0",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return run(command.OutOrStdout(), c) },
	}
	flags := command.Flags()
	flags.StringVar(&c.Repo, "repo", "", "URL of the Git repository, as Argo CD reaches it (required)")
	flags.StringVar(&c.Revision, "revision", "", "branch, tag or commit to follow (required)")
	flags.StringVar(&c.Registry, "registry", "", "registry of the operator's image, host and path (required)")
	const asBefore, moved = " (default: the one in the file)", " (default: the one in the file, in this registry)"
	flags.StringVar(&c.Version, "version", "", "version of the operator's image"+asBefore)
	flags.StringVar(&c.Architecture, "architecture", "",
		"overlay to install: "+strings.Join(values.Architectures(), ", ")+asBefore)
	flags.StringVar(&c.ArgoCDNamespace, "argocd-namespace", "", "namespace of Argo CD"+asBefore)
	flags.StringVar(&c.CatalogImage, "catalog-image", "", "catalog by digest"+moved)
	flags.StringVar(&c.AgentImage, "agent-image", "", "image of the agent"+moved)
	flags.StringVar(&c.MemcachedImage, "memcached-image", "", "default memcached image"+asBefore)
	return command
}

func run(out io.Writer, c values.Choices) error {
	before, err := values.Read(".")
	if err != nil {
		return err
	}
	after, err := c.Resolve(before)
	if err != nil {
		return err
	}
	if err := values.Edit(".", func(s *values.Settings) { *s = after }); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range after.Fields() {
		fmt.Fprintf(table, "%s\t%s\n", f.Key, *f.Value)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	end := "\nWrote %s. Commit and push it: Argo CD reads it from Git.\n"
	if before == after {
		end = "\n%s had these values already.\n"
	}
	_, err = fmt.Fprintf(out, end, values.Path)
	return err
}
