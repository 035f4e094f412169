// Package status says what a cache is like. It is pure: from what was planned, seen and done it computes the
// whole status, and whether to look again at a known time.
package status

import (
	"slices"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	appsv1 "k8s.io/api/apps/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Input is all that the status depends on. What a failure kept from being known is zero.
type Input struct {
	Memcached *cachev1.Memcached
	Plan      plan.Plan
	Snapshot  observe.Snapshot
	Report    apply.Report

	// Machines are asked for only while nodes are unplaced, and not every operator may.
	Nodes observe.Nodes

	// Now is the time by which deadlines pass.
	Now time.Time

	// Updating says that the cache has its turn to be updated to the defaults of the operator, until it is Ready.
	Updating bool

	// Err is what ended the pass before anything was applied.
	Err error
}

// formerConditions are those of the Operator SDK tutorial's operator, which made caches before this one. Nobody updates
// them any more, so they would go on to tell of the cache as it was.
var formerConditions = []string{"Available", "Degraded"}

// Evaluate returns the status of a cache. It keeps what the old status says of Pods where nothing was observed.
func Evaluate(in Input) cachev1.MemcachedStatus {
	status := *in.Memcached.Status.DeepCopy()
	status.ObservedGeneration = in.Memcached.Generation
	status.Selector = labels.SelectorFromSet(names.Selector(in.Memcached.Name)).String()
	// Where a spec is invalid and there is no Pod, nothing tells what the next one listens on.
	if in.Plan.Name != "" && (status.Endpoint == "" || in.Err == nil || len(in.Snapshot.Pods) > 0) {
		status.Endpoint = in.Plan.Endpoint
	}
	setTemplate(&status, in)
	if in.Snapshot.Objects != nil {
		countPods(&status, in)
		status.TLS = tlsStatus(in)
		setFormer(&status, in, formerClientCAs, in.Snapshot.TLS)
		setFormer(&status, in, formerUsers, in.Snapshot.Auth)
	}
	for _, conditionType := range formerConditions {
		meta.RemoveStatusCondition(&status.Conditions, conditionType)
	}
	setConditions(&status, judge(in), in.Now)
	setSuspended(&status, in)
	if in.Err == nil { // Otherwise it is not known what waits.
		setUpdatePending(&status, in)
	}
	return status
}

// IsReady tells whether the condition Ready is True.
func IsReady(in Input) bool { return judge(in).state == done }

// setTemplate says what the Pods are made of, once the Deployment says so.
func setTemplate(status *cachev1.MemcachedStatus, in Input) {
	deployment, _ := in.Report.Of(observe.DeploymentKind.GroupKind())
	if !deployment.IsMade() || in.Plan.Record.Revision == 0 {
		return
	}
	status.TemplateInputs = in.Plan.Record.Encode()
	if in.Plan.Template != plan.RenderTemplate {
		return
	}
	status.TemplateRevision = int32(in.Plan.Record.Revision)
	status.Image, status.AgentImage = in.Plan.Image, ""
	if in.Plan.Agent != nil {
		status.AgentImage = in.Plan.Agent.Image
	}
}

// countPods tells of our own Deployment alone: a foreign one of the same name and labels is not the cache's.
func countPods(status *cachev1.MemcachedStatus, in Input) {
	status.Nodes = nil
	if in.deployment() != nil {
		for _, pod := range in.Snapshot.Pods {
			status.Nodes = append(status.Nodes, pod.Name)
		}
	}
	deployed := in.deployed()
	status.Replicas = deployed.Replicas
	status.ReadyReplicas = deployed.ReadyReplicas
}

// deployment is our own Deployment, or nil.
func (in Input) deployment() *appsv1.Deployment {
	deployment := in.Snapshot.Deployment()
	ours := in.Report.IsOwned(observe.DeploymentKind.GroupKind())
	if deployment == nil || !ours && !metav1.IsControlledBy(deployment, in.Memcached) {
		return nil
	}
	return deployment
}

// deployed is what our Deployment says of itself.
func (in Input) deployed() appsv1.DeploymentStatus {
	if deployment := in.deployment(); deployment != nil {
		return deployment.Status
	}
	return appsv1.DeploymentStatus{}
}

// isPaused tells whether our Deployment's rollout was stopped, because the Memcached was suspended.
func (in Input) isPaused() bool {
	deployment := in.deployment()
	return deployment != nil && deployment.Spec.Paused && observe.IsPaused(deployment)
}

// setSuspended says that nothing is written, once a rollout that was under way is held (plan.Hold): before that, the
// next pass has to know that it is still to be done.
func setSuspended(status *cachev1.MemcachedStatus, in Input) {
	switch {
	case !in.Memcached.Spec.Suspend:
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionSuspended)
		return
	case in.Plan.Name == "", in.Plan.Pause && !in.Report.Has(apply.Paused):
		return
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: cachev1.ConditionSuspended, Status: metav1.ConditionTrue, Reason: cachev1.ReasonSuspended,
		Message:            "The operator writes only the status while spec.suspend is true",
		ObservedGeneration: status.ObservedGeneration,
	})
}

// setConditions writes Ready, and of Reconciling and Stalled the one that is true, if any. The time of Reconciling
// begins anew with each generation of the spec: what is new has the whole deadline.
func setConditions(status *cachev1.MemcachedStatus, v verdict, now time.Time) {
	before := meta.FindStatusCondition(status.Conditions, cachev1.ConditionReconciling)
	if before != nil && before.ObservedGeneration != status.ObservedGeneration {
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionReconciling)
	}
	ready := metav1.ConditionFalse
	if v.state == done {
		ready = metav1.ConditionTrue
	}
	v.message = Shorten(v.message, longestMessage)
	set := func(conditionType string, value metav1.ConditionStatus) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: conditionType, Status: value, Reason: v.reason, Message: v.message,
			ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(now),
		})
	}
	set(cachev1.ConditionReady, ready)
	for conditionType, state := range map[string]state{
		cachev1.ConditionReconciling: underWay,
		cachev1.ConditionStalled:     stuck,
	} {
		if v.state == state {
			set(conditionType, metav1.ConditionTrue)
			continue
		}
		meta.RemoveStatusCondition(&status.Conditions, conditionType)
	}
}

// longestMessage is far below what a condition may hold (32768 characters): nobody reads more.
const longestMessage = 4096

// Shorten cuts a text to a number of bytes, between two characters, and shows that it did.
func Shorten(text string, longest int) string {
	const ellipsis = "…"
	if len(text) <= longest {
		return text
	}
	cut := longest - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}

// Differs tells whether writing the status would change anything.
func Differs(old, now cachev1.MemcachedStatus) bool {
	return old.ObservedGeneration != now.ObservedGeneration ||
		old.Replicas != now.Replicas ||
		old.ReadyReplicas != now.ReadyReplicas ||
		old.Selector != now.Selector ||
		old.Endpoint != now.Endpoint ||
		old.Image != now.Image ||
		old.AgentImage != now.AgentImage ||
		old.TemplateRevision != now.TemplateRevision ||
		old.TemplateInputs != now.TemplateInputs ||
		!equality.Semantic.DeepEqual(old.TLS, now.TLS) ||
		!slices.Equal(old.Nodes, now.Nodes) ||
		!slices.Equal(old.Conditions, now.Conditions)
}
