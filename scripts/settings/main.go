// Command settings writes gitops/settings/settings.yaml, which names the Git repository and the images that Argo CD
// uses.
package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/settings/consumer"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	var r consumer.Repository
	var out string
	command := &cobra.Command{
		Use:   "settings",
		Short: "Write the settings of gitops/, with their comments and in their order",
		Long: "Settings checks all values before it writes any. Commit and push the file afterwards: Argo CD reads it\n" +
			"from Git.",
		Example: "  go run ./scripts/settings --repo https://git.example.com/team/memcached-operator.git \\\n" +
			"    --revision main --registry registry.example.com/team --version 0.1.0\n" +
			"  go run ./scripts/settings --out ../config --repo https://git.example.com/team/config.git \\\n" +
			"    --revision main --registry registry.example.com/team --version 0.1.0 --method olm",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if out != "" {
				return write(command.OutOrStdout(), r, out)
			}
			return run(command.OutOrStdout(), r.Choices)
		},
	}
	flags := command.Flags()
	flags.StringVar(&r.Repo, "repo", "", "URL of the Git repository, as Argo CD reaches it (required)")
	flags.StringVar(&r.Revision, "revision", "", "branch, tag or commit to follow (required)")
	flags.StringVar(&r.Registry, "registry", "", "registry of the operator's image, host and path (required)")
	const asBefore, moved = " (default: the one in the file)", " (default: the one in the file, moved to --registry)"
	flags.StringVar(&r.Version, "version", "", "version of the operator's image"+asBefore)
	flags.StringVar(&r.Architecture, "architecture", "",
		"overlay to install: "+strings.Join(values.Architectures(), ", ")+asBefore)
	flags.StringVar(&r.ArgoCDNamespace, "argocd-namespace", "", "namespace of Argo CD"+asBefore)
	flags.StringVar(&r.CatalogImage, "catalog-image", "", "catalog by digest"+moved)
	flags.StringVar(&r.AgentImage, "agent-image", "", "image of the agent"+moved)
	flags.StringVar(&r.SnapshotImage, "snapshot-image", "", "image that saves caches (default: the one of --version, "+
		"in this registry)")
	flags.StringVar(&r.MemcachedImage, "memcached-image", "", "default memcached image"+asBefore)
	flags.StringVar(&out, "out", "", "write a repository that names this one by URL and ref into a new folder")
	flags.StringVar(&r.Method, "method", "direct", "with --out: install method, a folder of gitops/apps")
	flags.StringVar(&r.Upstream, "upstream", "", "with --out: URL of the operator's repository"+asBefore)
	flags.StringVar(&r.Ref, "ref", "", "with --out: its tag or commit (default: v and the version)")
	return command
}

func write(out io.Writer, r consumer.Repository, dir string) error {
	if err := r.Write(".", dir); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "Wrote %[1]s. Commit and push it to %[2]s, then apply it once:\n"+
		"kubectl apply --server-side -f %[1]s/bootstrap.yaml\n", dir, r.Repo)
	return err
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
		end = "\n%s already had these values, so nothing was written.\n"
	}
	_, err = fmt.Fprintf(out, end, values.Path)
	return err
}
