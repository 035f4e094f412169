package commands

// The words that a shell completes: names of Memcacheds, and values of flags.

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// completionTimeout is how long the API server may take to answer a shell, whose user has pressed a key and waits.
const completionTimeout = 3 * time.Second

// completion finds what a shell completes.
type completion = func(ctx context.Context) ([]string, error)

// completed returns a completion for cobra. If there is no answer, it completes nothing, because the shell would
// otherwise complete names of files, which would be wrong.
func completed(find completion) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(command.Context(), completionTimeout)
		defer cancel()
		found, err := find(ctx)
		if err != nil {
			cobra.CompErrorln(err.Error()) // To standard error, which shells discard.
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// name completes the first argument: the name of a Memcached.
func (p *plugin) name(command *cobra.Command, given []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.anyName(command, given, start)
}

// anyName completes the name of a Memcached of the namespace.
func (p *plugin) anyName(command *cobra.Command, given []string, start string) ([]string, cobra.ShellCompDirective) {
	return completed(p.names)(command, given, start)
}

func (p *plugin) names(ctx context.Context) ([]string, error) {
	caches, err := p.list(ctx, false)
	var found []string
	for i := range caches {
		found = append(found, caches[i].Name)
	}
	return found, err
}

// slotName completes a slot of the Memcached that is the first argument.
func (p *plugin) slotName(command *cobra.Command, given []string, start string) ([]string, cobra.ShellCompDirective) {
	return completed(func(ctx context.Context) ([]string, error) {
		if len(given) == 0 {
			return nil, nil
		}
		cluster, namespace, err := p.connect()
		if err != nil {
			return nil, err
		}
		mc, err := cluster.Memcached(ctx, client.ObjectKey{Namespace: namespace, Name: given[0]})
		if err != nil {
			return nil, err
		}
		var found []string
		for i := range mc.Status.Slots {
			found = append(found, mc.Status.Slots[i].Name)
		}
		return found, nil
	})(command, given, start)
}

func (p *plugin) namespaces(ctx context.Context) ([]string, error) {
	cluster, _, err := p.connect()
	if err != nil {
		return nil, err
	}
	namespaces := &corev1.NamespaceList{}
	if err := cluster.List(ctx, namespaces); err != nil {
		return nil, err
	}
	var found []string
	for i := range namespaces.Items {
		found = append(found, namespaces.Items[i].Name)
	}
	return found, nil
}

// fromKubeconfig completes a name of the kubeconfig.
func (p *plugin) fromKubeconfig(names func(*api.Config) []string) cobra.CompletionFunc {
	return completed(func(context.Context) ([]string, error) {
		config, err := p.flags.ToRawKubeConfigLoader().RawConfig()
		return names(&config), err
	})
}

// sorted returns a function that returns the sorted keys of a map of the kubeconfig.
func sorted[V any](of func(*api.Config) map[string]V) func(*api.Config) []string {
	return func(config *api.Config) []string { return slices.Sorted(maps.Keys(of(config))) }
}

// flagsWithFiles are the flags whose value is a file or a folder, which shells complete themselves. A flag --output for
// a format has its own completion, which stays.
var flagsWithFiles = []string{
	"kubeconfig", "cache-dir", "certificate-authority", "client-certificate", "client-key",
	"filename", "output", reach.FlagCA, reach.FlagCertificate, reach.FlagKey, reach.FlagUsers,
}

// completeFlags completes the values of the flags for the connection to the API server. It keeps shells from completing
// names of files for flags whose value is no file.
func (p *plugin) completeFlags(root *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{
		"namespace": completed(p.namespaces),
		"context":   p.fromKubeconfig(sorted(func(c *api.Config) map[string]*api.Context { return c.Contexts })),
		"cluster":   p.fromKubeconfig(sorted(func(c *api.Config) map[string]*api.Cluster { return c.Clusters })),
		"user":      p.fromKubeconfig(sorted(func(c *api.Config) map[string]*api.AuthInfo { return c.AuthInfos })),
	} {
		_ = root.RegisterFlagCompletionFunc(flag, complete) // The flags exist, here and below.
	}
	for _, command := range append(root.Commands(), root) {
		withoutFiles := func(flag *pflag.Flag) {
			if _, known := command.GetFlagCompletionFunc(flag.Name); !known && !slices.Contains(flagsWithFiles, flag.Name) {
				_ = command.RegisterFlagCompletionFunc(flag.Name, cobra.NoFileCompletions)
			}
		}
		command.LocalNonPersistentFlags().VisitAll(withoutFiles)
		command.PersistentFlags().VisitAll(withoutFiles)
	}
}
