package commands

// The command update.

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func newUpdate(p *plugin) *cobra.Command {
	return p.changes(p.update, &cobra.Command{
		Use:   "update NAME",
		Short: "Apply the update of a cache that is pending or queued",
		Long: "Applies what the condition UpdatePending names, such as a newer default image of the operator, without " +
			"waiting for\nother caches: it writes the annotation " + cachev1.AnnotationUpdateRequested + ". All Pods are " +
			"replaced, one\nafter another. With slots, each new Pod gets the keys of the one that it replaces; without, all " +
			"keys are lost.",
		Example: "  kubectl memcached update sessions -n team\n  kubectl memcached update sessions --dry-run=server",
	})
}

// update requests the update that is pending.
func (p *plugin) update(mc *cachev1.Memcached) (step, error) {
	if err := notSuspended(mc); err != nil {
		return step{}, err
	}
	pending := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionUpdatePending)
	switch {
	case pending == nil:
		return step{}, fmt.Errorf("the status of Memcached %s/%s does not say whether an update is pending: see %s",
			mc.Namespace, mc.Name, own("why", mc))
	case pending.Reason == cachev1.ReasonUpdateInProgress:
		return step{done: "is being updated already"}, nil
	case pending.Status != metav1.ConditionTrue:
		return step{done: "has no pending update"}, nil
	}
	return step{
		patch: fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, cachev1.AnnotationUpdateRequested,
			p.screen.Now.UTC().Format(time.RFC3339)),
		done: "is being updated", question: what(pending.Message) + ".\n" + restartQuestion(mc),
	}, nil
}

// what returns the message of a pending update without the part that says how to apply it.
func what(message string) string {
	for _, how := range []string{". It is applied ", ". A new value "} {
		message, _, _ = strings.Cut(message, how)
	}
	return message
}
