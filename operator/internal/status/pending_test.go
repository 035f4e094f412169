package status

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

func TestAnUpdateIsPendingUntilTheDeploymentHasIt(t *testing.T) {
	in := rolledOut()
	in.Plan.Pending = []string{"image memcached:1 -> memcached:2"}
	in.Memcached.Status = Evaluate(in)
	in.Plan.Pending = nil
	in.Report[0].Result, in.Report[0].Err = apply.Failed, errors.New("refused")
	if !meta.IsStatusConditionTrue(Evaluate(in).Conditions, cachev1.ConditionUpdatePending) {
		t.Error("nothing is pending, though the Deployment was not written")
	}
	in.Report[0].Result, in.Report[0].Err = apply.Updated, nil
	if !meta.IsStatusConditionFalse(Evaluate(in).Conditions, cachev1.ConditionUpdatePending) {
		t.Error("it is still pending, though the Deployment was written")
	}
}

func TestAPendingUpdateThatWaitsForASecretSaysSo(t *testing.T) {
	in := rolledOut()
	in.Plan.Pending, in.Blocked = []string{"image memcached:1 -> memcached:2"}, plan.SecretUnusable
	pending := meta.FindStatusCondition(Evaluate(in).Conditions, cachev1.ConditionUpdatePending)
	if !strings.HasSuffix(pending.Message, "The update waits until the Secret named in the condition Ready is valid") {
		t.Errorf("message %q", pending.Message)
	}
}
