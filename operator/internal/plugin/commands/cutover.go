package commands

// The command cutover.

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func newCutover(p *plugin) *cobra.Command {
	return p.changes(cutover, &cobra.Command{
		Use:   "cutover NAME",
		Short: "Let clients use a cache that follows other servers",
		Long: "Sets spec.bootstrap.mode of a Memcached to CutOver, once all keys of the other servers are copied: the last " +
			"changes are\ncopied, and then clients may use both. It refuses a cache that does not follow yet. If Argo CD or " +
			"Flux applies the\nMemcached, set the field in Git instead.",
		Example: "  kubectl memcached cutover sessions -n team\n  kubectl memcached cutover sessions --dry-run=server",
	})
}

// cutover sets the mode of a bootstrap that has copied all keys.
func cutover(mc *cachev1.Memcached) (step, error) {
	of := mc.Namespace + "/" + mc.Name
	if err := notSuspended(mc); err != nil {
		return step{}, err
	}
	bootstrap := mc.Spec.Bootstrap
	switch {
	case bootstrap == nil:
		return step{}, fmt.Errorf("spec.bootstrap of Memcached %s is not set, so it copies no keys of other servers: set "+
			"it, as docs/moving-in.md shows", of)
	case bootstrap.From.Snapshot != nil:
		return step{}, fmt.Errorf("the Memcached %s is filled with a snapshot, not with the keys of other servers: clients "+
			"may use it once its condition Bootstrapped is True, see %s", of, own("why", mc))
	case bootstrap.Mode == cachev1.BootstrapCutOver:
		return step{done: "is cut over, or about to be: see " + own("why", mc)}, nil
	}
	state := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped)
	if state == nil || mc.Status.ObservedGeneration < mc.Generation {
		return step{}, fmt.Errorf("the operator has not seen the spec of Memcached %s yet: see %s", of, own("why", mc))
	}
	wait := fmt.Sprintf("kubectl -n %s wait memcached/%s --timeout=1h ", mc.Namespace, mc.Name)
	switch state.Reason {
	case cachev1.ReasonBootstrapFollowing:
	case cachev1.ReasonBootstrapFailed:
		return step{}, fmt.Errorf("the keys of the other servers are not copied (%s: %s): see %s",
			state.Reason, state.Message, own("why", mc))
	default:
		return step{}, fmt.Errorf("not all keys of the other servers are copied yet (%s: %s): wait for it by "+
			`%s--for=jsonpath='{.status.conditions[?(@.type=="Bootstrapped")].reason}'=%s`,
			state.Reason, state.Message, wait, cachev1.ReasonBootstrapFollowing)
	}
	return step{
		patch: `{"spec":{"bootstrap":{"mode":"CutOver"}}}`, done: "cuts over",
		question: fmt.Sprintf("Clients will be allowed to use %[1]s and the other servers at the same time. "+
			"From then on, if the Pod of\nDeployment %[1]s-bootstrap is replaced, all keys are lost: "+
			"move the clients within minutes.", of),
		then: "Move the clients once this returns: " + wait + "--for=condition=Bootstrapped",
	}, nil
}
