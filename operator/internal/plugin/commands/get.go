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

	cache, hash, output string
	value               bool
}

func newGet(p *plugin) *cobra.Command {
	options := &getOptions{}
	command := &cobra.Command{
		Use:   "get KEY [--cache NAME]",
		Short: "Show what the server of a key holds: size, age, time to live, flags",
		Long: "Shows what memcached holds for a key, on the server that clients choose by the hash of spec.slots.clientHash" +
			" or of\n--hash. Without slots or a hash, all servers are asked. The item is not used by that: it stays where it " +
			"is in the LRU.\nThe statistics count it as a read. The value is shown only with --value.",
		Example: "  kubectl memcached get user:7:profile --cache sessions -n team\n" +
			"  kubectl memcached get user:7 --cache sessions --value",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, keys []string) error {
			if err := checkOutput(options.output, "json", "yaml"); err != nil {
				return err
			}
			if len(keys) != 1 {
				return fmt.Errorf("%d keys are given: give one KEY as the client sends it", len(keys))
			}
			return p.get(command.Context(), keys[0], *options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.cache, "cache", "", "Name of the Memcached. Required if the namespace has several.")
	flags.StringVar(&options.hash, "hash", "",
		"How clients choose: "+owner.Hashes()+". Defaults to spec.slots.clientHash.")
	flags.BoolVar(&options.value, "value", false, "Show the value, too: it may be secret.")
	flags.StringVarP(&options.output, "output", "o", "", "Output format: json or yaml.")
	options.addFlags(command)
	_ = command.RegisterFlagCompletionFunc("cache", p.anyName) // The flag exists.
	return command
}

// get shows the item of a key.
func (p *plugin) get(ctx context.Context, key string, options getOptions) error {
	if err := owner.Check(key); err != nil {
		return err
	}
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
	items := screen.ItemsOf(answers)
	if options.output != "" {
		return p.screen.Document(options.output, "CacheItemList", map[string]any{"key": key, "items": items})
	}
	return p.screen.Items(items)
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
	return nil, fmt.Errorf("clients choose slot %s for the key, but no Pod that runs holds it: "+
		"see kubectl memcached status %s", owners[0].Slot, r.mc.Name)
}
