package commands

// The commands pause and resume.

import (
	"fmt"

	"github.com/spf13/cobra"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func newPause(p *plugin) *cobra.Command {
	return p.changes(pause, &cobra.Command{
		Use:   "pause NAME",
		Short: "Pause a rollout, and keep the operator from changing a cache",
		Long: "Sets spec.suspend of a Memcached: a rollout in progress is paused, and the operator writes nothing but the " +
			"status.\nPods keep serving. If Argo CD or Flux applies the Memcached, set the field in Git instead.",
		Example: "  kubectl memcached pause sessions -n team\n  kubectl memcached pause sessions --dry-run=server",
	})
}

func pause(mc *cachev1.Memcached) (step, error) {
	if mc.Spec.Suspend {
		return step{done: "is paused already"}, nil
	}
	return step{
		patch: `{"spec":{"suspend":true}}`, done: "paused",
		question: fmt.Sprintf("Until you run kubectl memcached resume, "+
			"the operator will change nothing of %s/%s, and give no lost slot to another Pod.",
			mc.Namespace, mc.Name),
	}, nil
}

func newResume(p *plugin) *cobra.Command {
	return p.changes(resume, &cobra.Command{
		Use:     "resume NAME",
		Short:   "Resume a paused cache",
		Long:    "Removes spec.suspend of a Memcached: the operator applies the spec again, and continues a paused rollout.",
		Example: "  kubectl memcached resume sessions -n team --yes",
	})
}

func resume(mc *cachev1.Memcached) (step, error) {
	if !mc.Spec.Suspend {
		return step{done: "is resumed already"}, nil
	}
	return step{
		patch: `{"spec":{"suspend":null}}`, done: "resumed",
		question: fmt.Sprintf("The operator will apply the spec of %s/%s, which may replace Pods.", mc.Namespace, mc.Name),
	}, nil
}
