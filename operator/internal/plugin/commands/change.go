package commands

// The parts that all commands which change a field of a Memcached share.

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// step is a change to a Memcached.
type step struct {
	patch    string // a merge patch; empty: there is nothing to change
	question string // what the change does
	done     string // what is reported after the change, or if nothing had to change

	// then is what the user has to do after the change.
	then string
}

// decide returns the change to a Memcached, or an error that says what to do.
type decide func(*cachev1.Memcached) (step, error)

// changes adds the arguments, the flags and the function that a command needs to change a Memcached.
func (p *plugin) changes(decide decide, command *cobra.Command) *cobra.Command {
	options := &changeOptions{}
	options.addFlags(command)
	command.Args, command.ValidArgsFunction = oneName, p.name
	command.RunE = func(command *cobra.Command, names []string) error {
		return p.change(command.Context(), names[0], decide, *options)
	}
	return command
}

// change asks the user, and then patches a Memcached.
func (p *plugin) change(ctx context.Context, name string, decide decide, options changeOptions) error {
	patchOptions, err := options.patchOptions()
	if err != nil {
		return err
	}
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	mc, err := cluster.Memcached(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	next, err := decide(mc)
	if err != nil {
		return err
	}
	if next.patch == "" {
		fmt.Fprintf(p.Out, "memcached.cache.example.com/%s %s\n", name, next.done)
		return nil
	}
	if err := p.confirm(ctx, options, next.question); err != nil {
		return err
	}
	if err := cluster.Patch(ctx, mc, types.MergePatchType, []byte(next.patch), patchOptions); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "memcached.cache.example.com/%s %s\n", name, options.done(next.done))
	if next.then != "" && !options.isDryRun() {
		fmt.Fprintln(p.ErrOut, next.then)
	}
	return nil
}

// own returns a command of this plugin for a Memcached.
func own(command string, mc *cachev1.Memcached) string {
	return fmt.Sprintf("kubectl memcached %s %s -n %s", command, mc.Name, mc.Namespace)
}

// notSuspended returns an error if the operator would not act on a change, because the Memcached is suspended.
func notSuspended(mc *cachev1.Memcached) error {
	if !mc.Spec.Suspend {
		return nil
	}
	return fmt.Errorf("spec.suspend of Memcached %s/%s is true, so the operator would do nothing: run %s first",
		mc.Namespace, mc.Name, own("resume", mc))
}
