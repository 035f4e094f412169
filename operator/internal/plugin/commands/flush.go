package commands

// The command flush.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

type flushOptions struct {
	reachOptions

	slot        string
	yes, dryRun bool
}

func newFlush(p *plugin) *cobra.Command {
	options := &flushOptions{}
	command := &cobra.Command{
		Use:   "flush NAME [--slot SLOT]",
		Short: "Remove all keys of a cache, or of a slot",
		Long: "Removes all keys of a cache, or of a slot, by flush_all. It first shows how many keys and bytes each " +
			"server has, and\nasks whether to continue. Clients get no errors, but read every key from its source again.",
		Example: "  kubectl memcached flush sessions --dry-run\n" +
			"  kubectl memcached flush sessions --slot=sessions-1 --yes",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			return p.flush(command.Context(), names[0], *options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.slot, "slot", "", "Only this slot, such as sessions-1. Defaults to all servers.")
	flags.BoolVarP(&options.yes, "yes", "y", false, "Do not ask.")
	flags.BoolVar(&options.dryRun, "dry-run", false, "Only show what would be removed.")
	options.addFlags(command)
	_ = command.RegisterFlagCompletionFunc("slot", p.slotName) // The flag exists.
	return command
}

// flush removes the keys of servers.
func (p *plugin) flush(ctx context.Context, name string, options flushOptions) error {
	r, err := p.reach(ctx, name, options.reachOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.keep(options.slot); err != nil {
		return err
	}
	held := reach.All(ctx, r.Cache, r.servers, 0, load.Take)
	if err := failed(held); err != nil {
		return err
	}
	if err := p.screen.Flush(screen.HoldsOf(held), options.dryRun); err != nil || options.dryRun {
		return err
	}
	if err := p.confirm(ctx, changeOptions{yes: options.yes}, flushQuestion(r)); err != nil {
		return err
	}
	answers := reach.All(ctx, r.Cache, r.servers, 0, flushAll)
	var errs []error
	for _, answer := range answers {
		if answer.Err != nil {
			errs = append(errs, fmt.Errorf("pod/%s is not flushed: %w", answer.Pod, answer.Err))
			continue
		}
		fmt.Fprintf(p.Out, "pod/%s flushed\n", answer.Pod)
	}
	return errors.Join(errs...)
}

// flushAll removes the keys of a server.
func flushAll(ctx context.Context, connection *reach.Connection) (struct{}, error) {
	answer, err := connection.Client.Ask(ctx, "flush_all\r\n")
	switch {
	case err != nil:
		return struct{}{}, err
	case strings.Contains(answer, "not allowed"):
		return struct{}{}, errors.New("memcached allows no flush_all: spec.extraArgs has -F or --disable-flush-all")
	case answer != "OK":
		return struct{}{}, fmt.Errorf("memcached answers %.200q to flush_all", answer)
	}
	return struct{}{}, nil
}

// keep keeps only the server of a slot, if a slot is named.
func (r *reached) keep(slot string) error {
	if slot == "" {
		return nil
	}
	var slots []string
	for _, server := range r.servers {
		if server.Slot == slot {
			r.servers = []reach.Server{server}
			return nil
		}
		if server.Slot != "" {
			slots = append(slots, server.Slot)
		}
	}
	if len(r.mc.Status.Slots) == 0 {
		return fmt.Errorf("--slot %q: Memcached %s/%s has no slots, leave --slot out", slot, r.mc.Namespace, r.mc.Name)
	}
	return fmt.Errorf("--slot %q has no running Pod: name one of %q", slot, slots)
}

// flushQuestion returns the question before a flush. It also says which servers may not be flushed.
func flushQuestion(r *reached) string {
	question := fmt.Sprintf("All keys of %d servers of %s/%s will be removed.", len(r.servers), r.mc.Namespace, r.mc.Name)
	if len(r.servers) == 1 {
		question = fmt.Sprintf("All keys in Pod %s will be removed.", r.servers[0].Pod)
	}
	for i := range r.mc.Status.Slots {
		if r.mc.Status.Slots[i].State == cachev1.SlotCopying {
			question += " Keys are being copied between Pods, and keys that are in a copy now may stay: flush again afterwards."
			break
		}
	}
	return question
}
