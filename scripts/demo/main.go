// Command demo shows the operator at work: it pushes a commit to Git, Argo CD syncs the commit to a real cluster, the
// operator creates a cache, and a client stores keys in the cache. The cluster is a new one on this machine, or the
// user's. The script kind.sh installs the operator on a new kind cluster.
package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	root := &cobra.Command{Use: "demo", Short: "Show the operator at work, from a Git push to keys in a cache"}
	root.AddCommand(localCommand(), currentCommand())
	return root
}

func localCommand() *cobra.Command {
	options := local.Options{}
	command := &cobra.Command{
		Use:   "local",
		Short: "Show the operator at work on a new cluster on this machine",
		Long: "Starts a real cluster with Argo CD on this machine, without Docker, installs the operator from Git, " +
			"and\nreplaces all Pods of a cache, which keeps its keys. The cluster continues to run until `make demo-down`.",
		Example: "  sudo go run ./scripts/demo local",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runLocal(command.Context(), command.OutOrStdout(), options)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&options.NoInstall, "no-install", false, "fail instead of installing missing packages by apt-get")
	flags.StringVar(&options.Name, "name", "demo", "name of the cluster; several can run at the same time")
	return command
}

// options are the options of the demo on a cluster of the user.
type options struct {
	pipeline.Target
	Context, Output string
	Yes, CheckOnly  bool
	Timeout         time.Duration
}

func currentCommand() *cobra.Command {
	o := options{}
	command := &cobra.Command{
		Use:   "current",
		Short: "Show the operator at work on the cluster of your kubeconfig",
		Long: "Uses the cluster of your kubeconfig, your registry and your Git repository. It first checks whether\nthe " +
			"demo can work, and asks before it changes anything. See docs/demo.md.",
		Example: "  go run ./scripts/demo current --method direct \\\n" +
			"    --registry registry.example.com/team --repo https://git.example.com/team/memcached-operator.git\n" +
			"  go run ./scripts/demo current --method olm --registry ... --repo ... --check-only -o json",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runCurrent(command.Context(), o, console{
				In: command.InOrStdin(), Out: command.OutOrStdout(), Terminal: term.IsTerminal(int(os.Stdin.Fd())),
			})
		},
	}
	flags := command.Flags()
	flags.StringVar((*string)(&o.Method), "method", "direct", "direct, olm, openshift or olm-v1 (docs/gitops.md)")
	flags.StringVar(&o.Registry, "registry", "", "registry to push to, host and path (required)")
	flags.StringVar(&o.Repo, "repo", "", "URL of the Git repository, for pushing and for Argo CD (required)")
	flags.StringVar(&o.Revision, "revision", "", "branch to push to (default: a new one, "+pipeline.Branch+")")
	flags.StringVar(&o.Architecture, "arch", "", strings.Join(values.Architectures(), ", ")+
		" (default: the architecture of the Nodes,\nor multiarch if the Nodes have several)")
	flags.StringVar(&o.ArgoCDNamespace, "argocd-namespace", "", "namespace of Argo CD (default: the one that has it)")
	flags.StringVar(&o.MemcachedImage, "memcached-image", "", "memcached's image (default: as in "+values.Path+")")
	flags.StringVar(&o.Context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.BoolVar(&o.Yes, "yes", false, "continue without a question")
	flags.BoolVar(&o.CheckOnly, "check-only", false, "only run the checks")
	flags.StringVarP(&o.Output, "output", "o", "text", "with --check-only: text or json")
	flags.DurationVar(&o.Timeout, "timeout", 15*time.Minute, "how long to wait until Argo CD has installed everything")
	return command
}
