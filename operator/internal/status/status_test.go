package status

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

var deploymentKind = observe.DeploymentKind.GroupKind()

// rolledOut returns a cache of three ready Pods.
func rolledOut() Input {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Generation: 4, OwnerReferences: []metav1.OwnerReference{{
			UID: "uid-1", Controller: new(true),
		}}},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 4,
			Replicas:           3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable",
			}},
		},
	}
	return Input{
		Memcached: &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1", Generation: 7}},
		Plan:      plan.Plan{Pod: plan.Pod{Name: "cache", Memcached: memcached.Settings{Port: 11211}}, Namespace: "team", Size: 3},
		Snapshot: observe.Snapshot{
			Name: "cache", Objects: map[observe.Key]client.Object{{GroupKind: deploymentKind, Name: "cache"}: deployment},
			Pods: []observe.Pod{{Name: "cache-a", Ready: true}, {Name: "cache-b", Ready: true}, {Name: "cache-c", Ready: true}},
		},
		Report: apply.Report{{GroupKind: deploymentKind, Name: "cache", Result: apply.Unchanged}},
	}
}

func TestTheStatusKeepsWhatItKnewWhereNothingWasObserved(t *testing.T) {
	in := rolledOut()
	in.Memcached.Status = Evaluate(in)
	in.Plan, in.Snapshot, in.Report, in.Err = plan.Plan{}, observe.Snapshot{}, nil, errors.New("read: no answer")

	got := Evaluate(in)

	if diff := cmp.Diff(in.Memcached.Status, got, cmpopts.IgnoreFields(got, "Conditions", "ProgressingSince")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestEvaluateLeavesTheStatusOfTheCacheAsItIs(t *testing.T) {
	in := rolledOut()
	in.Memcached.Status = Evaluate(in)
	before := in.Memcached.DeepCopy()
	in.Plan.Size = 9
	Evaluate(in)
	if diff := cmp.Diff(before, in.Memcached); diff != "" {
		t.Errorf("the Memcached was changed:\n%s", diff)
	}
}

func TestAConditionLeavesWhenItIsNoLongerTrue(t *testing.T) {
	in := rolledOut()
	in.Invalid = &plan.Invalid{Problems: []string{"not an image"}}
	in.Memcached.Status = Evaluate(in)
	in.Invalid = nil
	if diff := cmp.Diff([]string{"Ready", "UpdatePending"}, conditionTypes(Evaluate(in))); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

// conditionTypes returns the types of the conditions of a status.
func conditionTypes(status cachev1.MemcachedStatus) (types []string) {
	for _, condition := range status.Conditions {
		types = append(types, condition.Type)
	}
	return types
}

func TestConditionsOfTheTutorialsOperatorLeaveAndThoseOfOthersStay(t *testing.T) {
	in := rolledOut()
	for _, former := range []string{"Available", "example.com/Audited", "Degraded"} {
		meta.SetStatusCondition(&in.Memcached.Status.Conditions, metav1.Condition{Type: former, Status: "True"})
	}
	if diff := cmp.Diff([]string{"example.com/Audited", "Ready", "UpdatePending"}, conditionTypes(Evaluate(in))); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestDiffers(t *testing.T) {
	tests := map[string]struct {
		change func(*cachev1.MemcachedStatus)
		want   bool
	}{
		"nothing changed":      {func(*cachev1.MemcachedStatus) {}, false},
		"a Pod more":           {func(s *cachev1.MemcachedStatus) { s.Nodes = append(s.Nodes, "x") }, true},
		"a ready Pod less":     {func(s *cachev1.MemcachedStatus) { s.ReadyReplicas-- }, true},
		"a replica less":       {func(s *cachev1.MemcachedStatus) { s.Replicas-- }, true},
		"another message":      {func(s *cachev1.MemcachedStatus) { s.Conditions[0].Message = "x" }, true},
		"another generation":   {func(s *cachev1.MemcachedStatus) { s.ObservedGeneration++ }, true},
		"another endpoint":     {func(s *cachev1.MemcachedStatus) { s.Endpoint = "x" }, true},
		"another selector":     {func(s *cachev1.MemcachedStatus) { s.Selector = "x" }, true},
		"nil instead of empty": {func(s *cachev1.MemcachedStatus) { s.Nodes = append([]string(nil), s.Nodes...) }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old := Evaluate(rolledOut())
			now := *old.DeepCopy()
			tc.change(&now)
			if got := Differs(old, now); got != tc.want {
				t.Errorf("Differs = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestADifferenceInAnyFieldCounts(t *testing.T) {
	kind := reflect.TypeFor[cachev1.MemcachedStatus]()
	for i := range kind.NumField() {
		changed := reflect.New(kind).Elem()
		switch field := changed.Field(i); field.Kind() {
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.String:
			field.SetString("x")
		default:
			field.SetInt(1)
		}
		if !Differs(cachev1.MemcachedStatus{}, changed.Interface().(cachev1.MemcachedStatus)) {
			t.Errorf("another value of %s is no difference", kind.Field(i).Name)
		}
	}
}

func TestUpdatePendingBecauseDefaultsDiffer(t *testing.T) {
	in := rolledOut()
	in.Plan.Pending = []string{"image memcached:1 -> memcached:2", "template revision 1 -> 2"}
	in.Memcached.Status = Evaluate(in)
	pending := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionUpdatePending)
	want := &metav1.Condition{
		Type: "UpdatePending", Status: "True", Reason: "DefaultsDiffer", ObservedGeneration: 7,
		Message: "image memcached:1 -> memcached:2; template revision 1 -> 2. The update would replace the Pods. It is applied with the next " +
			"change to the spec that replaces the Pods anyway, or if you set a new value of the annotation " +
			"cache.example.com/update-requested, or spec.updatePolicy Automatic",
	}
	if diff := cmp.Diff(want, pending, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if !meta.IsStatusConditionTrue(in.Memcached.Status.Conditions, cachev1.ConditionReady) {
		t.Error("a cache is ready although something waits")
	}

	in.Invalid = &plan.Invalid{Problems: []string{"not an image"}}
	in.Plan.Pending = nil
	if !meta.IsStatusConditionTrue(Evaluate(in).Conditions, cachev1.ConditionUpdatePending) {
		t.Error("the condition is not True any more although the update may still be pending")
	}
	in.Invalid = nil
	if !meta.IsStatusConditionFalse(Evaluate(in).Conditions, cachev1.ConditionUpdatePending) {
		t.Error("the condition is not False although nothing waits")
	}
	in.Plan.Pending = []string{"x"}
	in.Snapshot.Deployment().OwnerReferences, in.Report[0].Result = nil, apply.NotOwned
	if !meta.IsStatusConditionFalse(Evaluate(in).Conditions, cachev1.ConditionUpdatePending) {
		t.Error("the condition is about an unowned Deployment")
	}
}

// TestADeploymentThatIsTakenBackIsOwned: the Deployment had no owner reference when it was read, and its Pods keep
// serving.
func TestADeploymentThatIsTakenBackIsOwned(t *testing.T) {
	for verdict, owned := range map[apply.Result]bool{
		apply.Updated: true, apply.Adopted: true, apply.Conflicting: true,
		apply.NotOwned: false, apply.Terminating: false, apply.Failed: false,
	} {
		in := rolledOut()
		in.Snapshot.Deployment().OwnerReferences, in.Report[0].Result = nil, verdict
		if got := Evaluate(in); len(got.Nodes) > 0 != owned || got.ReadyReplicas > 0 != owned {
			t.Errorf("%s: Pods %v, %d ready", verdict, got.Nodes, got.ReadyReplicas)
		}
	}
}

func TestNoUpdatePendingFromTheFirstStatusOn(t *testing.T) {
	in := rolledOut()
	in.Snapshot = observe.Snapshot{Name: "cache", Objects: map[observe.Key]client.Object{}}
	in.Memcached.Status = Evaluate(in)
	want := &metav1.Condition{
		Type: "UpdatePending", Status: "False", Reason: "NoUpdatePending", ObservedGeneration: 7, Message: "No update is pending",
	}
	pending := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionUpdatePending)
	if diff := cmp.Diff(want, pending, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if now := Evaluate(in); Differs(in.Memcached.Status, now) {
		t.Errorf("a second look writes again:\n%s", cmp.Diff(in.Memcached.Status, now))
	}
}

func TestASuspendedCacheSaysSo(t *testing.T) {
	in := rolledOut()
	in.Memcached.Spec.Suspend, in.Plan.Suspended = true, true
	in.Memcached.Status = Evaluate(in)
	suspended := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionSuspended)
	if suspended == nil || suspended.Status != "True" {
		t.Fatalf("conditions %+v, want Suspended", in.Memcached.Status.Conditions)
	}
	in.Memcached.Spec.Suspend, in.Plan.Suspended = false, false
	if diff := cmp.Diff([]string{"Ready", "UpdatePending"}, conditionTypes(Evaluate(in))); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestSuspendedIsReportedOnceARolloutIsPaused(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		want   bool
	}{
		"there was nothing to pause": {func(*Input) {}, true},
		"it is paused":               {func(in *Input) { in.Pause, in.Report[0].Result = true, apply.Paused }, true},
		"it could not be paused": {func(in *Input) {
			in.Pause, in.Report[0].Result, in.Report[0].Err = true, apply.Failed, errors.New("no answer")
		}, false},
		"the current state is unknown": {func(in *Input) { in.Plan, in.Err = plan.Plan{}, errors.New("no answer") }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			in.Memcached.Spec.Suspend, in.Plan.Suspended = true, true
			tc.change(&in)
			if got := meta.IsStatusConditionTrue(Evaluate(in).Conditions, cachev1.ConditionSuspended); got != tc.want {
				t.Errorf("Suspended is true: %t, want %t", got, tc.want)
			}
		})
	}
}
