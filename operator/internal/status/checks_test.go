package status

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

func TestConditions(t *testing.T) {
	deployed := func(in *Input) *appsv1.DeploymentStatus { return &in.Snapshot.Deployment().Status }
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "cache",
		field.ErrorList{field.Required(field.NewPath("spec"), "x")})
	was := func(in *Input, reason string, generation int64) {
		in.Memcached.Status.Conditions = []metav1.Condition{{Type: "Ready", Reason: reason, ObservedGeneration: generation}}
	}
	rolling := func(in *Input) { deployed(in).Conditions[0].Reason = "ReplicaSetUpdated" }
	tests := map[string]struct {
		change  func(*Input)
		want    string
		message string
		other   string
	}{
		"every Pod is up to date and ready": {
			change: func(*Input) {},
			want:   cachev1.ReasonAllPodsReady, message: "3 of 3 Pods ready",
		},
		"the size is zero and no Pod is left": {
			change: func(in *Input) { in.Plan.Size = 0; *deployed(in) = appsv1.DeploymentStatus{ObservedGeneration: 4} },
			want:   cachev1.ReasonScaledToZero, message: "The size is 0: no Pods are expected",
		},
		"the Deployment was just created": {
			change: func(in *Input) {
				in.Snapshot = observe.Snapshot{Name: "cache", Objects: map[observe.Key]client.Object{}}
				in.Report = apply.Report{{GroupKind: deploymentKind, Result: apply.Created, Generation: 1}}
			},
			want: cachev1.ReasonRollingOut, message: "0 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"the Deployment was just changed, and its status is of before": {
			change: func(in *Input) {
				in.Report = apply.Report{{GroupKind: deploymentKind, Result: apply.Updated, Generation: 5}}
			},
			want: cachev1.ReasonRollingOut, message: "3 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"only metadata of the Deployment was changed": {
			change: func(in *Input) {
				in.Report = apply.Report{{GroupKind: deploymentKind, Result: apply.Updated, Generation: 4}}
			},
			want: cachev1.ReasonAllPodsReady, message: "3 of 3 Pods ready",
		},
		"the Deployment's controller has not seen the change": {
			change: func(in *Input) { in.Snapshot.Deployment().Generation = 5 },
			want:   cachev1.ReasonRollingOut, message: "3 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"one Pod of three has the new template": {
			change: func(in *Input) { rolling(in); deployed(in).UpdatedReplicas = 1 },
			want:   cachev1.ReasonRollingOut, message: "1 of 3 Pods replaced", other: cachev1.ConditionReconciling,
		},
		"all Pods have the new template, and an old one is left": {
			change: func(in *Input) { rolling(in); deployed(in).Replicas = 4 },
			want:   cachev1.ReasonRollingOut, message: "2 of 3 Pods replaced",
			other: cachev1.ConditionReconciling,
		},
		"the first new Pod starts while the old ones run": {
			change: func(in *Input) { rolling(in); deployed(in).UpdatedReplicas, deployed(in).Replicas = 1, 4 },
			want:   cachev1.ReasonRollingOut, message: "0 of 3 Pods replaced",
			other: cachev1.ConditionReconciling,
		},
		"an old Pod was deleted, and no new one exists yet": {
			change: func(in *Input) { rolling(in); deployed(in).UpdatedReplicas, deployed(in).Replicas = 0, 2 },
			want:   cachev1.ReasonRollingOut, message: "0 of 3 Pods replaced",
			other: cachev1.ConditionReconciling,
		},
		"more Pods than the size": {
			change: func(in *Input) { rolling(in); deployed(in).UpdatedReplicas, deployed(in).Replicas = 4, 4 },
			want:   cachev1.ReasonRollingOut, message: "The size is 3; Pods still to be deleted: 1",
			other: cachev1.ConditionReconciling,
		},
		"fewer Pods than the size": {
			change: func(in *Input) { rolling(in); deployed(in).UpdatedReplicas, deployed(in).Replicas = 2, 2 },
			want:   cachev1.ReasonRollingOut, message: "2 of 3 Pods up to date",
			other: cachev1.ConditionReconciling,
		},
		"a rollout that is paused": {
			change: func(in *Input) {
				in.Plan.Suspended = true
				deployed(in).UpdatedReplicas, deployed(in).Replicas = 2, 4
				in.Snapshot.Deployment().Spec.Paused = true
				in.Snapshot.Deployment().ManagedFields = []metav1.ManagedFieldsEntry{
					{Manager: names.PauseOwner, Operation: metav1.ManagedFieldsOperationApply},
				}
			},
			want:    cachev1.ReasonRollingOut,
			message: "1 of 3 Pods replaced; the rollout is paused: set spec.suspend to false to resume it",
			other:   cachev1.ConditionReconciling,
		},
		"new Pods are not ready yet": {
			change: func(in *Input) { rolling(in); deployed(in).ReadyReplicas, deployed(in).AvailableReplicas = 1, 1 },
			want:   cachev1.ReasonRollingOut, message: "1 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"a Pod of a finished rollout was deleted": {
			change: func(in *Input) {
				was(in, cachev1.ReasonAllPodsReady, 7)
				deployed(in).ReadyReplicas, deployed(in).AvailableReplicas = 2, 2
			},
			want: cachev1.ReasonPodsNotReady, message: "2 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"a deleted Pod is being replaced": {
			change: func(in *Input) {
				was(in, cachev1.ReasonPodsNotReady, 7)
				deployed(in).ReadyReplicas, deployed(in).AvailableReplicas = 2, 2
			},
			want: cachev1.ReasonPodsNotReady, message: "2 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"Pods for a larger size are not ready yet": {
			change: func(in *Input) {
				was(in, cachev1.ReasonAllPodsReady, 6)
				deployed(in).ReadyReplicas, deployed(in).AvailableReplicas = 2, 2
			},
			want: cachev1.ReasonRollingOut, message: "2 of 3 Pods ready", other: cachev1.ConditionReconciling,
		},
		"the rollout does not get on": {
			change: func(in *Input) {
				deployed(in).UpdatedReplicas = 1
				deployed(in).Conditions[0].Status = corev1.ConditionFalse
			},
			want: cachev1.ReasonPodsNotReady, message: "3 of 3 Pods ready; 1 of 3 Pods up to date", other: cachev1.ConditionReconciling,
		},
		"the spec is impossible": {
			change: func(in *Input) {
				in.Plan, in.Report = plan.Plan{}, nil
				in.Invalid = &plan.Invalid{Problems: []string{`spec.image "X" is no image`}}
			},
			want: cachev1.ReasonInvalidSpec, message: `spec.image "X" is no image`, other: cachev1.ConditionStalled,
		},
		"an unowned Deployment has the name": {
			change: func(in *Input) {
				in.Report = apply.Report{{GroupKind: deploymentKind, Result: apply.NotOwned, Why: "not owned: rename it"}}
			},
			want: cachev1.ReasonOwnershipConflict, message: "not owned: rename it", other: cachev1.ConditionStalled,
		},
		"the API server rejects an object as invalid": {
			change: func(in *Input) {
				in.Report = apply.Report{{Result: apply.Failed, Err: invalid}}
			},
			want: cachev1.ReasonInvalidSpec, message: `Deployment.apps "cache" is invalid: spec: Required value: x`,
			other: cachev1.ConditionStalled,
		},
		"Pods can't be created": {
			change: func(in *Input) {
				deployed(in).ReadyReplicas = 1
				deployed(in).Conditions = append(deployed(in).Conditions, appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue,
					Message: `pods "cache-x-12345" is forbidden: exceeded quota: small`,
				})
			},
			want: cachev1.ReasonPodsNotReady, message: "1 of 3 Pods ready; Pods cannot be created: exceeded quota: small",
			other: cachev1.ConditionReconciling,
		},
		"Pods of a rollout have problems, the most frequent first": {
			change: func(in *Input) {
				rolling(in)
				deployed(in).ReadyReplicas = 0
				in.Snapshot.Pods = []observe.Pod{{Problem: "is odd"}, {Problem: "can not"}, {Problem: "can not"}, {Name: "good"}}
			},
			want: cachev1.ReasonPodsNotReady, message: "0 of 3 Pods ready; 2 Pods: can not; 1 Pod: is odd",
			other: cachev1.ConditionReconciling,
		},
		"Pods do not become ready while an update is pending": {
			change: func(in *Input) {
				rolling(in)
				deployed(in).ReadyReplicas = 0
				in.Snapshot.Pods = []observe.Pod{{Problem: "can not"}}
				in.Plan.Pending = []string{"image a -> b"}
				in.Memcached.Status.Conditions = nil
			},
			want: cachev1.ReasonPodsNotReady, message: "0 of 3 Pods ready; 1 Pod: can not; an update to the operator's defaults is " +
				"pending: see the condition UpdatePending",
			other: cachev1.ConditionReconciling,
		},
		"new Pods are ready, but not for long enough": {
			change: func(in *Input) { rolling(in); deployed(in).AvailableReplicas = 1 },
			want:   cachev1.ReasonRollingOut, message: "1 of 3 Pods ready for minReadySeconds",
			other: cachev1.ConditionReconciling,
		},
		"suspended, with another size than planned": {
			change: func(in *Input) { in.Plan.Suspended, in.Plan.Size, in.Report = true, 9, nil },
			want:   cachev1.ReasonAllPodsReady, message: "3 of 3 Pods ready",
		},
		"suspended before there was a Pod": {
			change: func(in *Input) {
				in.Plan.Suspended, in.Report = true, nil
				in.Snapshot = observe.Snapshot{Name: "cache", Objects: map[observe.Key]client.Object{}}
			},
			want: cachev1.ReasonSuspended, message: "No Deployment exists: set spec.suspend to false to create it",
			other: cachev1.ConditionStalled,
		},
		"the API server denied an object": {
			change: func(in *Input) {
				in.Report = apply.Report{{Result: apply.Failed, Err: errors.New("denied\nby policy")}}
			},
			want: cachev1.ReasonApplyFailed, message: "denied; by policy", other: cachev1.ConditionReconciling,
		},
		"the API server rejects one object as invalid and denies another": {
			change: func(in *Input) {
				in.Report = apply.Report{{Result: apply.Failed, Err: invalid}, {Result: apply.Failed, Err: errors.New("denied")}}
			},
			want: cachev1.ReasonApplyFailed, message: invalid.Error() + "; denied", other: cachev1.ConditionReconciling,
		},
		"nothing could be read": {
			change: func(in *Input) { in.Report, in.Err = nil, errors.New("no answer") },
			want:   cachev1.ReasonApplyFailed, message: "no answer", other: cachev1.ConditionReconciling,
		},
		"another client keeps overwriting fields": {
			change: func(in *Input) {
				in.Report = apply.Report{{GroupKind: deploymentKind, Name: "cache", Result: apply.Conflicting, Drift: []drift.Drift{{
					Field: ".spec.replicas", Was: "3", Is: "7", Kind: drift.HorizontalAutoscaler,
					Author: &drift.Author{Manager: "kube-controller-manager", Operation: "Update", Subresource: "scale"},
				}}}}
			},
			want: cachev1.ReasonFieldManagerConflict, other: cachev1.ConditionStalled,
			message: `Deployment "cache": another client keeps overwriting fields: .spec.replicas 3 -> 7 by ` +
				`"kube-controller-manager" (Update of scale, no time recorded). The operator waits at most ten minutes before it ` +
				`reverts them again. Fix: an autoscaler scales the Deployment: point the HorizontalPodAutoscaler's scaleTargetRef at ` +
				`the Memcached`,
		},
		"an object is being deleted": {
			change: func(in *Input) { in.Report = apply.Report{{Result: apply.Terminating, Why: "is being deleted"}} },
			want:   cachev1.ReasonRollingOut, message: "is being deleted", other: cachev1.ConditionReconciling,
		},
		"the Deployment is paused": {
			change: func(in *Input) {
				deployed(in).UpdatedReplicas = 1
				in.Snapshot.Deployment().Spec.Paused = true
			},
			want:    cachev1.ReasonRollingOut,
			message: "1 of 3 Pods replaced; the Deployment is paused: kubectl rollout resume deployment cache",
			other:   cachev1.ConditionReconciling,
		},
		"a Pod that was ready runs and does not answer": {
			change: func(in *Input) {
				was(in, cachev1.ReasonAllPodsReady, 7)
				deployed(in).ReadyReplicas, deployed(in).AvailableReplicas = 2, 2
				in.Snapshot.Pods[0] = observe.Pod{Name: "cache-a", Unresponsive: true}
			},
			want: cachev1.ReasonPodsNotReady, message: "2 of 3 Pods ready; 1 Pod: memcached runs but does not answer on port 11211",
			other: cachev1.ConditionReconciling,
		},
		"an unowned Deployment of that name has Pods": {
			change: func(in *Input) {
				in.Snapshot.Deployment().OwnerReferences = nil
				in.Report = apply.Report{{Result: apply.NotOwned, Why: "not owned"}}
			},
			want: cachev1.ReasonOwnershipConflict, message: "not owned", other: cachev1.ConditionStalled,
		},
		"a message that is far too long": {
			change: func(in *Input) { in.Report, in.Err = nil, errors.New(strings.Repeat("ä", 3000)) },
			want:   cachev1.ReasonApplyFailed, message: strings.Repeat("ä", 2046) + "…", other: cachev1.ConditionReconciling,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			tc.change(&in)
			want := []metav1.Condition{{Type: "Ready", Status: "False", Reason: tc.want, Message: tc.message, ObservedGeneration: 7}}
			if tc.other == "" {
				want[0].Status = "True"
			} else {
				want = append(want, metav1.Condition{
					Type: tc.other, Status: "True", Reason: tc.want, Message: tc.message, ObservedGeneration: 7,
				})
			}
			ignoreTime := cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")
			others := cmpopts.IgnoreSliceElements(func(c metav1.Condition) bool { return c.Type == cachev1.ConditionUpdatePending })
			if diff := cmp.Diff(want, Evaluate(in).Conditions, ignoreTime, others); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
