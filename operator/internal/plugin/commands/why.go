package commands

// The command why.

import (
	"context"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
)

// logTail is how many lines of a log are read.
const logTail = 20

func newWhy(p *plugin) *cobra.Command {
	output := ""
	command := &cobra.Command{
		Use:   "why NAME",
		Short: "Explain the state of a cache, from its condition to the line of the log",
		Long: "Explains the state of a cache: from its condition to the Pod, the Node and the line of the log that " +
			"says so, and the\nnext command to type.",
		Example:           "  kubectl memcached why sessions -n team",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			if err := checkOutput(output, "json", "yaml"); err != nil {
				return err
			}
			return p.why(command.Context(), names[0], output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "Output format: json or yaml.")
	return command
}

// why explains the state of a cache.
func (p *plugin) why(ctx context.Context, name, output string) error {
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	observed, err := cluster.Observe(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	explanation := cause.Explain(evidence(ctx, cluster, observed))
	if output != "" {
		return p.screen.Document(output, "CacheExplanation", explanation)
	}
	p.screen.Explanation(explanation)
	return nil
}

// evidence adds the events and the log of the Pod that is the most likely cause. Without the right for the events, they
// are left out.
func evidence(ctx context.Context, cluster access.Cluster, observed access.Observed) cause.Evidence {
	e := cause.Evidence{Observed: observed}
	pod, source, found := cause.Suspect(observed)
	if !found {
		return e
	}
	events := &corev1.EventList{}
	about := client.MatchingFields{"involvedObject.name": pod.Name}
	if err := cluster.List(ctx, events, client.InNamespace(pod.Namespace), about); err == nil {
		e.PodEvents = access.Ordered(events.Items)
	}
	if source.Container != "" {
		e.Log, e.LogErr = cluster.Log(ctx, pod, source.Container, source.Previous, logTail)
	}
	return e
}
