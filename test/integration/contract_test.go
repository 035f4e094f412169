package integration

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// assertContract checks that a status keeps what kstatus promises, and that kstatus' own library reads it so.
func assertContract(t *testing.T, mc *cachev1.Memcached) {
	t.Helper()
	conditions := mc.Status.Conditions
	ready := meta.FindStatusCondition(conditions, cachev1.ConditionReady)
	reconciling := meta.FindStatusCondition(conditions, cachev1.ConditionReconciling)
	stalled := meta.FindStatusCondition(conditions, cachev1.ConditionStalled)
	switch {
	case ready == nil:
		t.Error("there is no Ready condition")
	case reconciling != nil && stalled != nil:
		t.Error("both Reconciling and Stalled are there")
	case ready.Status == "True" && (reconciling != nil || stalled != nil):
		t.Error("Ready is True while Reconciling or Stalled is there")
	case ready.Status != "True" && reconciling == nil && stalled == nil:
		t.Error("Ready is not True, and neither Reconciling nor Stalled says why")
	}
	if mc.Status.ObservedGeneration > mc.Generation {
		t.Errorf("observedGeneration is %d, the generation only %d", mc.Status.ObservedGeneration, mc.Generation)
	}
	want := status.CurrentStatus
	switch {
	case stalled != nil:
		want = status.FailedStatus
	case reconciling != nil:
		want = status.InProgressStatus
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(mc)
	if err != nil {
		t.Fatal(err)
	}
	content["apiVersion"], content["kind"] = cachev1.GroupVersion.String(), "Memcached"
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil || result.Status != want {
		t.Errorf("kstatus says %v (%v), want %s", result, err, want)
	}
}
