package status

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// FuzzAnyInputGivesAStatus: whatever the input, the status follows the rules of kstatus. The next evaluation returns
// the same status, so that it is written only once.
func FuzzAnyInputGivesAStatus(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := anyPass(arbitrary.Filler(data))
		now := Evaluate(in)
		keepsTheContract(t, now, in.Memcached.Generation)
		in.Memcached.Status = now
		if again := Evaluate(in); Differs(now, again) {
			t.Errorf("the next status differs:\n%+v\n%+v", now, again)
		}
	})
}

func anyPass(filler *randfill.Filler) Input {
	in := Input{Memcached: arbitrary.Memcached(filler)}
	if now := in.Memcached.Status.Conditions; len(now) > 0 {
		in.Memcached.Status.Conditions = unique(now)
	}
	defaults := plan.Defaults{Revisions: []int{1}, Image: "memcached:1", AgentImage: "agent:1", Platform: plan.Kubernetes}
	live := &appsv1.Deployment{}
	filler.Fill(live)
	live.OwnerReferences = append(live.OwnerReferences, metav1.OwnerReference{UID: "uid-1", Controller: new(true)})
	filler.Fill(&in.Snapshot.Pods)
	filler.Fill(&in.Nodes)
	in.Now = time.Unix(1_700_000_000, 0)
	filler.Fill(&in.Snapshot.Progressed)
	in.Snapshot.Objects = map[observe.Key]client.Object{{GroupKind: observe.DeploymentKind.GroupKind()}: live}
	var broken bool
	if filler.Fill(&broken); broken {
		in.Err = errors.New("no answer")
	} else {
		decide(&in, defaults)
	}
	in.Report = anyReport(filler)
	return in
}

func decide(in *Input, defaults plan.Defaults) {
	outcome, _, err := desired.State(in.Memcached, in.Snapshot.Current(), defaults)
	in.Err = err
	switch outcome := outcome.(type) {
	case plan.Ready:
		in.Plan = outcome.Plan
	case plan.Blocked:
		in.Plan, in.Blocked = outcome.Plan, outcome.By
	case plan.Invalid:
		in.Invalid = &outcome
	}
}

// unique drops a condition if an earlier condition has the same type, because the API server would refuse two
// conditions of one type.
func unique(conditions []metav1.Condition) []metav1.Condition {
	var kept []metav1.Condition
	seen := map[string]bool{}
	for _, condition := range conditions {
		if !seen[condition.Type] {
			kept = append(kept, condition)
		}
		seen[condition.Type] = true
	}
	return kept
}

func anyReport(filler *randfill.Filler) apply.Report {
	verdicts := []apply.Result{
		apply.Unchanged, apply.Created, apply.Updated, apply.Adopted, apply.Deleted, apply.NotOwned, apply.Conflicting,
		apply.Terminating, apply.Paused, apply.Failed,
	}
	var chosen []uint8
	filler.Fill(&chosen)
	var report apply.Report
	for _, choice := range chosen {
		outcome := apply.Outcome{GroupKind: observe.DeploymentKind.GroupKind(), Name: "cache"}
		filler.Fill(&outcome.Why)
		filler.Fill(&outcome.Drift)
		filler.Fill(&outcome.Generation)
		if outcome.Result = verdicts[int(choice)%len(verdicts)]; outcome.Result == apply.Failed {
			outcome.Err = errors.New(outcome.Why)
		}
		report = append(report, outcome)
	}
	return report
}

func keepsTheContract(t *testing.T, now cachev1.MemcachedStatus, generation int64) {
	t.Helper()
	found := map[string]metav1.Condition{}
	for _, condition := range now.Conditions {
		if _, twice := found[condition.Type]; twice {
			t.Errorf("condition %s is there twice", condition.Type)
		}
		found[condition.Type] = condition
	}
	ready, reconciling, stalled := found[cachev1.ConditionReady], found[cachev1.ConditionReconciling], found[cachev1.ConditionStalled]
	if now.ObservedGeneration != generation || ready.ObservedGeneration != generation {
		t.Errorf("observed generation %d, of Ready %d, want %d", now.ObservedGeneration, ready.ObservedGeneration, generation)
	}
	if ready.Reason == "" || len(ready.Message) > longestMessage {
		t.Errorf("Ready has the reason %q and %d bytes of message", ready.Reason, len(ready.Message))
	}
	others := 0
	for _, condition := range []metav1.Condition{reconciling, stalled} {
		if condition.Status == metav1.ConditionTrue {
			others++
		}
	}
	if isReady := ready.Status == metav1.ConditionTrue; isReady == (others == 1) || others > 1 {
		t.Errorf("Ready %s, Reconciling %q, Stalled %q", ready.Status, reconciling.Status, stalled.Status)
	}
}
