package commands

// The command owner.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
)

// keyOptions are the options of commands about keys.
type keyOptions struct {
	cache, hash string
	base64      bool
	output      output
}

func (o *keyOptions) addFlags(p *plugin, command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.cache, "cache", "", "Name of the Memcached. Required if the namespace has several.")
	flags.StringVar(&o.hash, "hash", "",
		"How clients choose: "+owner.Hashes()+". Defaults to spec.slots.clientHash.")
	flags.BoolVar(&o.base64, "base64", false, "The keys are given in base64: they may have any bytes.")
	o.output.addFlag(command)
	_ = command.RegisterFlagCompletionFunc("cache", p.anyName) // The flags exist.
	_ = command.RegisterFlagCompletionFunc("hash",
		cobra.FixedCompletions(strings.Split(owner.Hashes(), ", "), cobra.ShellCompDirectiveNoFileComp))
}

func newOwner(p *plugin) *cobra.Command {
	options := &keyOptions{}
	command := &cobra.Command{
		Use:   "owner KEY... [--cache NAME]",
		Short: "Show the slot that clients choose for a key",
		Long: "Shows the slot that clients choose for a key, by the hash of spec.slots.clientHash or of --hash. It asks no " +
			"memcached\nserver: whether the key exists is not known.",
		Example: "  kubectl memcached owner user:7:profile --cache sessions -n team\n" +
			"  kubectl memcached owner user:7 user:8 --cache sessions --hash Rendezvous\n" +
			"  kubectl memcached owner --base64 AWtleQ== --cache sessions",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, keys []string) error {
			if len(keys) == 0 {
				return errors.New("KEY is missing: give a key as the client sends it")
			}
			return p.owner(command.Context(), keys, *options)
		},
	}
	options.addFlags(p, command)
	return command
}

// owner shows the slots of keys.
func (p *plugin) owner(ctx context.Context, given []string, options keyOptions) error {
	keys, err := owner.Keys(given, options.base64)
	if err != nil {
		return err
	}
	mc, err := p.cacheOf(ctx, options.cache)
	if err != nil {
		return err
	}
	owners, err := owner.Of(mc, options.hash, keys)
	if err != nil {
		return err
	}
	return p.print(options.output, "KeyOwnerList", items(owners), func() error { return p.screen.Owners(owners) })
}

// cacheOf reads a Memcached or, without a name, the only one of the namespace.
func (p *plugin) cacheOf(ctx context.Context, name string) (*cachev1.Memcached, error) {
	if name != "" {
		cluster, namespace, err := p.connect()
		if err != nil {
			return nil, err
		}
		return cluster.Memcached(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	}
	caches, err := p.list(ctx, false)
	if err != nil {
		return nil, err
	}
	switch len(caches) {
	case 0:
		_, namespace, err := p.connect()
		return nil, errors.Join(err, fmt.Errorf("namespace %q has no Memcached: choose another one by --namespace; "+
			"kubectl memcached status -A lists all", namespace))
	case 1:
		return &caches[0], nil
	}
	return nil, fmt.Errorf("--cache is missing, and the namespace has %d Memcacheds: name one", len(caches))
}
