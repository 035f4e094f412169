package commands

// The command get.

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/item"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

type getOptions struct {
	reachOptions

	keyOptions

	value bool
}

func newGet(p *plugin) *cobra.Command {
	options := &getOptions{}
	command := &cobra.Command{
		Use:   "get KEY [--cache NAME]",
		Short: "Show what the server of a key holds: size, age, time to live, flags",
		Long: "Shows what memcached holds for a key, on the server that clients choose by the hash of spec.slots.clientHash" +
			" or of\n--hash. Without slots or a hash, all servers are asked. This does not count as a use of the item: it " +
			"keeps its place in the LRU list.\nThe statistics count it as a read. The value is shown only with --value.",
		Example: "  kubectl memcached get user:7:profile --cache sessions -n team\n" +
			"  kubectl memcached get user:7 --cache sessions --value",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, keys []string) error {
			if len(keys) != 1 {
				return fmt.Errorf("%d keys are given: give one KEY as the client sends it", len(keys))
			}
			return p.get(command.Context(), keys, *options)
		},
	}
	command.Flags().BoolVar(&options.value, "value", false, "Also show the value. Careful: it may be secret.")
	options.keyOptions.addFlags(p, command)
	options.reachOptions.addFlags(command)
	return command
}

// get shows the item of a key.
func (p *plugin) get(ctx context.Context, given []string, options getOptions) error {
	keys, err := owner.Keys(given, options.base64)
	if err != nil {
		return err
	}
	key := keys[0]
	r, err := p.reach(ctx, options.cache, options.reachOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	servers := r.servers
	if options.hash != "" || r.mc.Spec.Slots != nil && r.mc.Spec.Slots.ClientHash != "" {
		if servers, err = serverOf(r, options.hash, key); err != nil {
			return err
		}
	}
	answers := reach.All(ctx, r.Cache, servers, 0, item.Read(key, options.value))
	if err := failed(answers); err != nil {
		return err
	}
	found := screen.ItemsOf(answers)
	document := map[string]any{"key": key, "items": found}
	if encoded := owner.Base64(key); encoded != "" {
		document["keyBase64"] = encoded
	}
	return p.print(options.output, "CacheItemList", document, func() error { return p.screen.Items(found) })
}

// serverOf returns the server that clients choose for a key.
func serverOf(r *reached, hash, key string) ([]reach.Server, error) {
	owners, err := owner.Of(r.mc, hash, []string{key})
	if err != nil {
		return nil, err
	}
	for _, server := range r.servers {
		if server.Slot == owners[0].Slot {
			return []reach.Server{server}, nil
		}
	}
	return nil, fmt.Errorf("clients choose slot %s for the key, but no running Pod has that slot: "+
		"see kubectl memcached status %s", owners[0].Slot, r.mc.Name)
}
