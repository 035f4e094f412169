package commands

// The command owner.

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
)

type ownerOptions struct{ cache, hash, output string }

func newOwner(p *plugin) *cobra.Command {
	options := &ownerOptions{}
	command := &cobra.Command{
		Use:   "owner KEY... [--cache NAME]",
		Short: "Show the slot that clients choose for a key",
		Long: "Shows the slot that clients choose for a key, by the hash of spec.slots.clientHash or of --hash. It asks no " +
			"memcached\nserver: whether the key exists is not known.",
		Example: "  kubectl memcached owner user:7:profile --cache sessions -n team\n" +
			"  kubectl memcached owner user:7 user:8 --cache sessions --hash Rendezvous",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, keys []string) error {
			if err := checkOutput(options.output, "json", "yaml"); err != nil {
				return err
			}
			if len(keys) == 0 {
				return errors.New("KEY is missing: give a key as the client sends it")
			}
			return p.owner(command.Context(), keys, *options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.cache, "cache", "", "Name of the Memcached. Required if the namespace has several.")
	flags.StringVar(&options.hash, "hash", "",
		"How clients choose: "+owner.Hashes()+". Defaults to spec.slots.clientHash.")
	flags.StringVarP(&options.output, "output", "o", "", "Output format: json or yaml.")
	_ = command.RegisterFlagCompletionFunc("cache", p.anyName) // The flag exists.
	return command
}

// owner shows the slots of keys.
func (p *plugin) owner(ctx context.Context, keys []string, options ownerOptions) error {
	mc, err := p.cacheOf(ctx, options.cache)
	if err != nil {
		return err
	}
	owners, err := owner.Of(mc, options.hash, keys)
	if err != nil {
		return err
	}
	if options.output != "" {
		return p.screen.Document(options.output, "KeyOwnerList", map[string]any{"items": owners})
	}
	return p.screen.Owners(owners)
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
	if len(caches) != 1 {
		return nil, fmt.Errorf("--cache is missing, and the namespace has %d Memcacheds: name one", len(caches))
	}
	return &caches[0], nil
}
