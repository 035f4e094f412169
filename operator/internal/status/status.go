// Package status computes the status of a cache. It is pure: its input is the plan, the observed state and the
// results of apply.
package status

// Computes the whole status.

import (
	"cmp"
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

// Input is everything that the status depends on. Fields that are unknown because of an error are zero.
type Input struct {
	Memcached *cachev1.Memcached
	Snapshot  observe.Snapshot
	Report    apply.Report

	// Plan is zero if the spec is invalid, or if there is an Err. Blocked is what the plan waits for; empty if it does
	// not wait.
	Plan    plan.Plan
	Blocked plan.Blocker

	// Invalid has the errors in the spec; nil if there are none.
	Invalid *plan.Invalid

	// Pause: the rollout in progress had to be paused.
	Pause bool

	// Nodes are known only while Pods are unschedulable, and only if the operator has the right to list Nodes.
	Nodes observe.Nodes

	// NoCertificates is why it is unknown which Certificates exist; empty if it is known.
	NoCertificates string

	// Now is the current time, for deadlines.
	Now time.Time

	// Updating: the cache is being updated to the operator's defaults, until it is Ready.
	Updating bool

	// PodsErr is why a Pod could not be changed for its slot.
	PodsErr error

	// Err is the error that ended the reconciliation before there was a plan.
	Err error
}

// formerConditions are the conditions of the Operator SDK tutorial's operator. No client updates them any more, so they
// would report an outdated state.
var formerConditions = []string{"Available", "Degraded"}

// Evaluate returns the status of a cache. It keeps the old status of the Pods if nothing was observed.
func Evaluate(in Input) cachev1.MemcachedStatus {
	status := *in.Memcached.Status.DeepCopy()
	status.ObservedGeneration = in.Memcached.Generation
	status.Selector = labels.SelectorFromSet(names.Selector(in.Memcached.Name)).String()
	switch {
	case in.isPlanned():
		status.Endpoint, status.DiscoveryEndpoint = in.Plan.Endpoint, ""
		if in.Plan.Discovery != nil {
			status.DiscoveryEndpoint = in.Plan.Discovery.Endpoint
		}
	case in.Invalid != nil && (status.Endpoint == "" || len(in.Snapshot.Pods) > 0):
		status.Endpoint = in.Invalid.Endpoint // Without Pods, the port of the next Pods is unknown.
	}
	setTemplate(&status, in)
	setSlots(&status, in)
	setBootstrapped(&status, in)
	setCertificate(&status, in)
	setAutoscaling(&status, in)
	if in.Snapshot.Objects != nil {
		countPods(&status, in)
		status.TLS = tlsStatus(in)
		if in.isPlanned() {
			status.Binding = bindingStatus(in)
		}
		setCertificateIncomplete(&status, in)
		setRestartRequired(&status, in)
	}
	for _, conditionType := range formerConditions {
		meta.RemoveStatusCondition(&status.Conditions, conditionType)
	}
	setConditions(&status, judge(in), in)
	setSuspended(&status, in)
	if in.isPlanned() { // Otherwise the pending update is unknown.
		setUpdatePending(&status, in)
	}
	return status
}

// isPlanned reports whether there is a plan.
func (in Input) isPlanned() bool { return in.Err == nil && in.Invalid == nil }

// setTemplate records the inputs, the revision and the images of the Pod template, once the Deployment is written.
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

// countPods counts the Pods of the Memcached's own Deployment; an unowned Deployment with the same name and labels
// does not count.
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

// deployment returns the Deployment that the Memcached owns, or nil.
func (in Input) deployment() *appsv1.Deployment {
	deployment := in.Snapshot.Deployment()
	owned := in.Report.IsOwned(observe.DeploymentKind.GroupKind())
	if deployment == nil || !owned && !metav1.IsControlledBy(deployment, in.Memcached) {
		return nil
	}
	return deployment
}

// deployed returns the status of the owned Deployment.
func (in Input) deployed() appsv1.DeploymentStatus {
	if deployment := in.deployment(); deployment != nil {
		return deployment.Status
	}
	return appsv1.DeploymentStatus{}
}

// isPaused reports whether the operator paused the rollout because the Memcached is suspended.
func (in Input) isPaused() bool {
	deployment := in.deployment()
	return deployment != nil && deployment.Spec.Paused && observe.IsPaused(deployment)
}

// SuspendedMessage is the message of the condition Suspended.
const SuspendedMessage = "The operator writes only the status while spec.suspend is true"

// setSuspended reports the suspension once a rollout in progress is paused (plan.MustPause): until then, the next
// reconciliation must still pause the rollout.
func setSuspended(status *cachev1.MemcachedStatus, in Input) {
	switch {
	case !in.Memcached.Spec.Suspend:
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionSuspended)
		return
	case in.Err != nil, in.Pause && !in.Report.Has(apply.Paused):
		return
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: cachev1.ConditionSuspended, Status: metav1.ConditionTrue, Reason: cachev1.ReasonSuspended,
		Message:            SuspendedMessage,
		ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(in.Now),
	})
}

// setConditions writes the verdict as conditions, and the time since which the cache reconciles.
func setConditions(status *cachev1.MemcachedStatus, v verdict, in Input) {
	status.ProgressingSince = nil
	if v.state == reconciling {
		since := progressingSince(in, isTimed(v.reason))
		status.ProgressingSince = new(metav1.NewTime(cmp.Or(since, in.Now.Truncate(time.Second))))
	}
	writeConditions(&status.Conditions, v, status.ObservedGeneration, in.Now)
}

// writeConditions writes a verdict as the conditions of kstatus: Ready, and Reconciling or Stalled if one of them is
// True.
func writeConditions(conditions *[]metav1.Condition, v verdict, generation int64, now time.Time) {
	ready := metav1.ConditionFalse
	if v.state == done {
		ready = metav1.ConditionTrue
	}
	v.message = Shorten(v.message, longestMessage)
	set := func(conditionType string, value metav1.ConditionStatus) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: conditionType, Status: value, Reason: v.reason, Message: v.message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		})
	}
	set(cachev1.ConditionReady, ready)
	for conditionType, state := range map[string]state{
		cachev1.ConditionReconciling: reconciling,
		cachev1.ConditionStalled:     stalled,
	} {
		if v.state == state {
			set(conditionType, metav1.ConditionTrue)
			continue
		}
		meta.RemoveStatusCondition(conditions, conditionType)
	}
}

// LongestNote is the limit of the events API, in bytes.
const LongestNote = 1024

// longestMessage is far below the limit of a condition (32768 characters); longer messages are not readable.
const longestMessage = 4096

// Shorten cuts a text to at most this number of bytes, at a character boundary, and ends it with an ellipsis.
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

// Differs reports whether writing the status would change anything.
func Differs(old, now cachev1.MemcachedStatus) bool {
	return !equality.Semantic.DeepEqual(old, now)
}
