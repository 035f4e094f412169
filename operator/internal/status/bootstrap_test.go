package status

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

func TestTheConditionBootstrappedSaysWhatToDoNext(t *testing.T) {
	const follow, cutOver, moved = instruction.PhaseFollow, instruction.PhaseCutOver, instruction.PhaseMoved
	failure := instruction.Failure{Reason: "OldUnreachable", Error: "old:11211: connection refused"}
	tests := map[string]struct {
		bootstrap plan.Bootstrap
		reason    string
		message   string
	}{
		"a slot has no Pod": {plan.Bootstrap{Waits: true}, cachev1.ReasonBootstrapWaiting, "not every slot has a Pod"},
		"no Pod yet":        {plan.Bootstrap{Phase: follow}, cachev1.ReasonBootstrapWaiting, `Deployment "cache-bootstrap" starts`},
		"a Pod that needs Secrets": {plan.Bootstrap{Phase: follow, FromTLSSecret: "old-tls", FromAuthSecret: "old-users"},
			cachev1.ReasonBootstrapWaiting, "it cannot start without these Secrets: old-tls, old-users"},
		"a container that does not run yet": {plan.Bootstrap{Phase: follow, Pod: &plan.BootstrapPod{Phase: follow}},
			cachev1.ReasonBootstrapWaiting, `Deployment "cache-bootstrap" starts`},
		"a Pod that does not start": {plan.Bootstrap{Phase: follow, Pod: &plan.BootstrapPod{Problem: "cannot be scheduled"}},
			cachev1.ReasonBootstrapWaiting, "does not start: cannot be scheduled"},
		"copying": {plan.Bootstrap{Phase: follow, Pod: &plan.BootstrapPod{Runs: true, Phase: follow}}, cachev1.ReasonBootstrapCopying, "being copied"},
		"a failed attempt": {plan.Bootstrap{Phase: follow, Pod: &plan.BootstrapPod{Runs: true, Phase: follow, Failure: failure}},
			cachev1.ReasonBootstrapFailed, "OldUnreachable: old:11211: connection refused. The next attempt copies the keys from the beginning"},
		"following, after a failed attempt": {plan.Bootstrap{Phase: follow, Pod: &plan.BootstrapPod{Runs: true, Phase: follow, Follows: true, Failure: failure}},
			cachev1.ReasonBootstrapFollowing, "set spec.bootstrap.mode to CutOver"},
		"cutting over": {plan.Bootstrap{Phase: cutOver, Pod: &plan.BootstrapPod{Runs: true, Phase: follow, Follows: true}},
			cachev1.ReasonBootstrapCuttingOver, "must not write to the cache yet"},
		"ready, and not recorded": {plan.Bootstrap{Phase: cutOver, Moved: true, Pod: &plan.BootstrapPod{Runs: true, Phase: cutOver, Follows: true, Ready: true}},
			cachev1.ReasonBootstrapCuttingOver, "must not write to the cache yet"},
		"cut over": {plan.Bootstrap{Phase: moved, Moved: true, Pod: &plan.BootstrapPod{Runs: true, Phase: moved, Follows: true, Ready: true}},
			cachev1.ReasonBootstrapCutOver, "then remove spec.bootstrap"},
		"started again while clients use both": {plan.Bootstrap{Phase: moved, Moved: true, Pod: &plan.BootstrapPod{Runs: true, Phase: moved, Follows: true}},
			cachev1.ReasonBootstrapResuming, "clients may read outdated values"},
		"a failure while clients use both": {plan.Bootstrap{Phase: moved, Moved: true, Pod: &plan.BootstrapPod{Runs: true, Phase: moved, Failure: failure}},
			cachev1.ReasonBootstrapFailed, "The next attempt removes all keys from the other servers and the cache"},
		"a failure while clients use both: what to do": {
			plan.Bootstrap{Phase: moved, Moved: true, Pod: &plan.BootstrapPod{Runs: true, Phase: moved, Failure: failure}},
			cachev1.ReasonBootstrapFailed, "let clients use only one"},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			in := rolledOut()
			in.Memcached.Spec.Bootstrap = &cachev1.Bootstrap{}
			in.Plan.Bootstrap = &tc.bootstrap
			now := Evaluate(in)
			condition := meta.FindStatusCondition(now.Conditions, cachev1.ConditionBootstrapped)
			if condition == nil || condition.Reason != tc.reason || !strings.Contains(condition.Message, tc.message) {
				t.Errorf("got %+v, want %s: %s", condition, tc.reason, tc.message)
			}
			if is := meta.IsStatusConditionTrue(now.Conditions, cachev1.ConditionBootstrapped); is != (tc.reason == cachev1.ReasonBootstrapCutOver) {
				t.Errorf("True: %t", is)
			}
			if since := now.BootstrapCutOverSince; (since != nil) != tc.bootstrap.Moved {
				t.Errorf("cut over since %v", since)
			}
			in.Memcached.Status, in.Memcached.Spec.Bootstrap, in.Plan.Bootstrap = now, nil, nil
			left := Evaluate(in)
			if meta.FindStatusCondition(left.Conditions, cachev1.ConditionBootstrapped) != nil || left.BootstrapCutOverSince != nil {
				t.Errorf("without a bootstrap: %+v", left)
			}
		})
	}
}
