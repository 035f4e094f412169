package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/current"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Which cluster the demo is on.
const (
	localCluster   = "local"
	currentCluster = "current"
)

// upFlags are those of the command up.
type upFlags struct {
	cluster string
	way     string
	output  string
	local   local.Options
	current current.Options

	// forLocal and forCurrent are those that have a meaning for one of the clusters only.
	forLocal, forCurrent *pflag.FlagSet
}

func upCommand() *cobra.Command {
	f := &upFlags{}
	command := &cobra.Command{
		Use:   "up",
		Short: "Bring everything up and show it working",
		Example: "  sudo go run ./scripts/demo up\n" +
			"  go run ./scripts/demo up --cluster current --method direct \\\n" +
			"    --registry registry.example.com/team --repo https://git.example.com/team/memcached-operator.git\n" +
			"  go run ./scripts/demo up --cluster current --method olm --registry ... --repo ... --check-only -o json",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	command.Flags().StringVar(&f.cluster, "cluster", localCluster,
		"local: a new cluster on this machine; current: that of your kubeconfig")
	f.forLocal, f.forCurrent = f.localFlags(), f.currentFlags()
	command.Flags().AddFlagSet(f.forLocal)
	command.Flags().AddFlagSet(f.forCurrent)
	return command
}

func (f *upFlags) localFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet(localCluster, pflag.ContinueOnError)
	flags.BoolVar(&f.local.NoInstall, "no-install", false,
		"local: refuse instead of installing missing packages with apt-get")
	flags.StringVar(&f.local.Name, "name", "demo", "local: name of the cluster; several may run at once")
	flags.StringVar(&f.local.ArgoCDVersion, "argocd-version", "",
		"local: version of Argo CD, like 3.5 (default: the newest known)")
	return flags
}

func (f *upFlags) currentFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet(currentCluster, pflag.ContinueOnError)
	o := &f.current
	flags.StringVar(&f.way, "method", string(target.Direct), "current: direct, olm, openshift or olm-v1 (docs/gitops.md)")
	flags.StringVar(&o.Registry, "registry", "", "current: registry to push to, host and path (required)")
	flags.StringVar(&o.Repo, "repo", "", "current: URL of the Git repository, for pushing and for Argo CD (required)")
	flags.StringVar(&o.Revision, "revision", "", "current: branch to push to (default: a new one, "+target.Branch+")")
	flags.StringVar(&o.Architecture, "arch", "", "current: "+strings.Join(values.Architectures(), ", ")+
		" (default: that of the nodes,\nor multiarch where they have several)")
	flags.StringVar(&o.ArgoCDNamespace, "argocd-namespace", "", "current: namespace of Argo CD (default: where one is)")
	flags.StringVar(&o.MemcachedImage, "memcached-image", "",
		"current: memcached's image (default: as in gitops/settings/settings.yaml)")
	flags.StringVar(&o.Context, "context", "", "current: context of the kubeconfig (default: its current one)")
	flags.BoolVar(&o.Yes, "yes", false, "current: do not ask")
	flags.BoolVar(&o.CheckOnly, "check-only", false, "current: find out what is missing, and end there")
	flags.StringVarP(&f.output, "output", "o", "text", "current, with --check-only: text or json")
	flags.DurationVar(&o.Timeout, "timeout", 15*time.Minute, "current: how long Argo CD may take for all of it")
	return flags
}

func (f *upFlags) run(command *cobra.Command) error {
	out := command.OutOrStdout()
	switch f.cluster {
	case localCluster:
		if err := refuse(command, f.forCurrent, currentCluster); err != nil {
			return err
		}
		f.local.ArgoCD = true
		return show(command.Context(), out, f.local)
	case currentCluster:
		if err := refuse(command, f.forLocal, localCluster); err != nil {
			return err
		}
		return f.runCurrent(command)
	}
	return fmt.Errorf("--cluster %q: choose local or current", f.cluster)
}

func (f *upFlags) runCurrent(command *cobra.Command) error {
	if !slices.Contains([]string{"text", "json"}, f.output) {
		return fmt.Errorf("--output %q: text and json are possible", f.output)
	}
	f.current.Way = target.Way(f.way)
	f.current.JSON = f.output == "json"
	if f.current.JSON && !f.current.CheckOnly {
		return fmt.Errorf("--output json: only what --check-only finds can be written so")
	}
	return current.Run(command.Context(), f.current, current.Console{
		In: command.InOrStdin(), Out: command.OutOrStdout(), Terminal: term.IsTerminal(int(os.Stdin.Fd())),
	})
}

// refuse tells of flags that have no meaning for the cluster that was chosen.
func refuse(command *cobra.Command, others *pflag.FlagSet, cluster string) error {
	var wrong []string
	command.Flags().Visit(func(flag *pflag.Flag) {
		if others.Lookup(flag.Name) != nil {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: only with --cluster %s", strings.Join(wrong, ", "), cluster)
}
