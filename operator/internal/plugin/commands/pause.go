package commands

// The commands pause and resume.

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newPause(p *plugin) *cobra.Command {
	return p.suspends(true, &cobra.Command{
		Use:   "pause NAME",
		Short: "Pause a rollout, and keep the operator from changing a cache",
		Long: "Sets spec.suspend of a Memcached: a rollout in progress is paused, and the operator writes nothing but the " +
			"status.\nPods keep serving. If Argo CD or Flux applies the Memcached, set the field in Git instead.",
		Example: "  kubectl memcached pause sessions -n team\n  kubectl memcached pause sessions --dry-run=server",
	})
}

func newResume(p *plugin) *cobra.Command {
	return p.suspends(false, &cobra.Command{
		Use:     "resume NAME",
		Short:   "Resume what pause paused",
		Long:    "Removes spec.suspend of a Memcached: the operator applies the spec again, and continues a paused rollout.",
		Example: "  kubectl memcached resume sessions -n team --yes",
	})
}

// suspends completes a command that sets spec.suspend.
func (p *plugin) suspends(suspend bool, command *cobra.Command) *cobra.Command {
	options := &changeOptions{}
	options.addFlags(command)
	command.Args, command.ValidArgsFunction = oneName, p.name
	command.RunE = func(command *cobra.Command, names []string) error {
		return p.suspend(command.Context(), names[0], suspend, *options)
	}
	return command
}

// suspend sets spec.suspend, if it has another value.
func (p *plugin) suspend(ctx context.Context, name string, suspend bool, options changeOptions) error {
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
	done, patch := "resumed", `{"spec":{"suspend":null}}`
	question := fmt.Sprintf("The operator will apply the spec of %s/%s, which may replace Pods.", namespace, name)
	if suspend {
		done, patch = "paused", `{"spec":{"suspend":true}}`
		question = fmt.Sprintf("The operator will change nothing of %s/%s, and replace no lost slot, until resume.",
			namespace, name)
	}
	if mc.Spec.Suspend == suspend {
		fmt.Fprintf(p.Out, "memcached.cache.example.com/%s is %s already\n", name, done)
		return nil
	}
	if err := p.confirm(ctx, options, question); err != nil {
		return err
	}
	if err := cluster.Patch(ctx, mc, types.MergePatchType, []byte(patch), patchOptions); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "memcached.cache.example.com/%s %s\n", name, options.done(done))
	return nil
}
