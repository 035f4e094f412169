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
	output := output{}
	command := &cobra.Command{
		Use:   "why NAME",
		Short: "Explain the state of a cache, from its condition to the line of the log",
		Long: "Explains the state of a cache: from its condition to the Pod, the Node and the line of the log that " +
			"says so, and the\nnext command to type.",
		Example:           "  kubectl memcached why sessions -n team",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			return p.why(command.Context(), names[0], output)
		},
	}
	output.addFlag(command)
	return command
}

// why explains the state of a cache.
func (p *plugin) why(ctx context.Context, name string, o output) error {
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	observed, err := cluster.Observe(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	explanation := cause.Explain(evidence(ctx, cluster, observed))
	return p.print(o, "CacheExplanation", explanation, func() error { return p.screen.Explanation(explanation) })
}

// evidence adds the events and the log of the Pod that is the most likely cause, and those of the Pod that copies keys.
func evidence(ctx context.Context, cluster access.Cluster, observed access.Observed) cause.Evidence {
	e := cause.Evidence{Observed: observed}
	if pod, source, found := cause.Suspect(observed); found {
		e.Testimony = testimony(ctx, cluster, pod, source)
	}
	if pod, source, found := cause.BootstrapSuspect(observed); found {
		e.Bootstrap = testimony(ctx, cluster, pod, source)
	}
	return e
}

// testimony reads the events and the log of a Pod. If the user has no right to read the events, they are left out.
func testimony(ctx context.Context, cluster access.Cluster, pod *corev1.Pod, source cause.Source) (t cause.Testimony) {
	events := &corev1.EventList{}
	about := client.MatchingFields{"involvedObject.name": pod.Name}
	if err := cluster.List(ctx, events, client.InNamespace(pod.Namespace), about); err == nil {
		t.PodEvents = access.Ordered(events.Items)
	}
	if source.Container != "" {
		t.Log, t.LogErr = cluster.Log(ctx, pod, source.Container, source.Previous, logTail)
	}
	return t
}
