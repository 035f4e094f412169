package cause_test

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

var update = flag.Bool("update", false, "write the golden files again")

// ready is the scenario of a reason of the condition Ready.
func ready(reason, message string) cause.Evidence {
	stalled := map[string]bool{
		cachev1.ReasonProgressDeadlineExceeded: true, cachev1.ReasonInvalidSpec: true, cachev1.ReasonInvalidSecret: true,
		cachev1.ReasonCertificateExpired: true, cachev1.ReasonOwnershipConflict: true, cachev1.ReasonSuspended: true,
	}
	mc := cachetest.Memcached("shop", reason, message)
	if stalled[reason] {
		mc.Status.Conditions = append(mc.Status.Conditions, cachetest.Condition(cachev1.ConditionStalled, reason, message))
	}
	return cause.Evidence{Observed: access.Observed{
		Memcached: mc, Deployment: cachetest.Deployment("shop", 3, 3),
		Nodes: map[string]corev1.Node{"node-a": cachetest.Node("node-a", "zone-1"), "node-b": cachetest.Node("node-b", "zone-2")},
		Pods:  []corev1.Pod{cachetest.Pod("shop", "1aaaa", "node-a"), cachetest.Pod("shop", "2bbbb", "node-b")},
	}}
}

// healthyBut is the scenario of a reason of a condition that does not reflect the health of the Pods.
func healthyBut(condition, reason, message string) cause.Evidence {
	e := ready(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	added := cachetest.Condition(condition, reason, message)
	if reason == cachev1.ReasonNoUpdatePending || reason == cachev1.ReasonUpdateInProgress ||
		condition == cachev1.ConditionBootstrapped && reason != cachev1.ReasonBootstrapCutOver && reason != cachev1.ReasonBootstrapRestored {
		added.Status = metav1.ConditionFalse
	}
	switch {
	case reason == cachev1.ReasonLearning, reason == cachev1.ReasonNotReported:
		added.Status = metav1.ConditionUnknown
	case condition == cachev1.ConditionAsUsual && reason != cachev1.ReasonAsUsual:
		added.Status = metav1.ConditionFalse
	}
	e.Memcached.Status.Conditions = append(e.Memcached.Status.Conditions, added)
	return e
}

func changed(e cause.Evidence, change func(*cause.Evidence)) cause.Evidence {
	change(&e)
	return e
}

func withTLS(e cause.Evidence, issuer bool) cause.Evidence {
	e.Memcached.Spec.TLS = &cachev1.TLS{SecretName: "shop-cert"}
	if issuer {
		e.Memcached.Spec.TLS.IssuerRef = &cachev1.IssuerRef{Name: "ca"}
	}
	e.Memcached.Spec.Auth = &cachev1.Auth{SecretName: "shop-users"}
	return e
}

// crash adds a Pod whose memcached does not start.
func crash(e cause.Evidence) cause.Evidence {
	return changed(e, func(e *cause.Evidence) {
		e.Deployment = cachetest.Deployment("shop", 3, 1)
		e.Pods = append(e.Pods, cachetest.Crashing(cachetest.Pod("shop", "3cccc", "node-a"), 64))
		warning := cachetest.Event("Pod", "shop-5d9c7b6f4-3cccc", "BackOff", "Back-off restarting failed container memcached", time.Minute)
		warning.Type = corev1.EventTypeWarning
		e.PodEvents = []corev1.Event{warning}
		e.Log = "\nIllegal argument \"-Z\"\nmemcached ended\n"
	})
}

// scenarios has a scenario for each reason of the API.
func scenarios() map[string]cause.Evidence {
	const update, restart = cachev1.ConditionUpdatePending, cachev1.ConditionRestartRequired
	const names, bootstrap = cachev1.ConditionCertificateIncomplete, cachev1.ConditionBootstrapped
	const usual = cachev1.ConditionAsUsual
	return map[string]cause.Evidence{
		cachev1.ReasonAllPodsReady: ready(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready"),
		cachev1.ReasonScaledToZero: ready(cachev1.ReasonScaledToZero, "The size is 0: no Pods are expected"),
		cachev1.ReasonRollingOut: changed(ready(cachev1.ReasonRollingOut, "1 of 3 Pods replaced; the Deployment is paused: "+
			"kubectl rollout resume deployment shop"), func(e *cause.Evidence) { e.Deployment.Spec.Paused = true }),
		cachev1.ReasonHandingOver: ready(cachev1.ReasonHandingOver, "1 of 3 Pods replaced; 2 of 3 slots are still to be handed over, 1 being copied"),
		cachev1.ReasonResizing: ready(cachev1.ReasonResizing, "1 of 3 Pods are still to be resized; Pod shop-5d8f7c6b9-1aaaa: Deferred: "+
			"Node didn't have enough resource: memory"),
		cachev1.ReasonPodsNotReady: crash(ready(cachev1.ReasonPodsNotReady, "2 of 3 Pods ready; 1 Pod: container \"memcached\" exited with code 64 and is restarted")),
		cachev1.ReasonProgressDeadlineExceeded: changed(ready(cachev1.ReasonProgressDeadlineExceeded, "No progress for 600 seconds "+
			"(spec.rollout.progressDeadlineSeconds): 2 of 3 Pods ready; 1 Pod: cannot be scheduled: 0/3 nodes are available"), func(e *cause.Evidence) {
			const message = "0/3 nodes are available: 3 Insufficient memory."
			e.Pods = append(e.Pods, cachetest.Pending(cachetest.Pod("shop", "3cccc", ""), message))
			warning := cachetest.Event("Pod", "shop-5d9c7b6f4-3cccc", "FailedScheduling", message, time.Minute)
			warning.Type = corev1.EventTypeWarning
			e.PodEvents = []corev1.Event{warning} // This event says nothing new.
		}),
		cachev1.ReasonInvalidSpec: ready(cachev1.ReasonInvalidSpec, "spec.image \"x y\" is not an image reference: write one such as memcached:1.6"),
		cachev1.ReasonSecretNotFound: withTLS(ready(cachev1.ReasonSecretNotFound, "spec.tls.secretName \"shop-cert\" does not exist: create the Secret "+
			"in namespace \"team\". No Pods are created until then"), false),
		cachev1.ReasonCertificateUnavailable: withTLS(ready(cachev1.ReasonCertificateUnavailable, "spec.tls.issuerRef \"ca\" needs cert-manager, "+
			"and the cluster does not have its API cert-manager.io/v1: install cert-manager, or remove spec.tls.issuerRef and create the Secret \"shop-cert\""), true),
		cachev1.ReasonInvalidSecret:      withTLS(ready(cachev1.ReasonInvalidSecret, "Secret \"shop-cert\": tls.crt holds no certificate"), false),
		cachev1.ReasonCertificateExpired: withTLS(ready(cachev1.ReasonCertificateExpired, "The certificate expired at 2026-03-04T11:00:00Z"), false),
		cachev1.ReasonOwnershipConflict: ready(cachev1.ReasonOwnershipConflict, "PodDisruptionBudget \"shop\" already exists and has no "+
			"owner; the operator did not change it. Fix: kubectl -n team annotate poddisruptionbudget shop cache.example.com/adopt-by=shop"),
		cachev1.ReasonFieldManagerConflict: ready(cachev1.ReasonFieldManagerConflict, "Deployment \"shop\": another client keeps overwriting fields: spec.replicas"),
		cachev1.ReasonKeysMoving:           ready(cachev1.ReasonKeysMoving, "A change of the size waits until spec.bootstrap is removed"),
		cachev1.ReasonApplyFailed:          ready(cachev1.ReasonApplyFailed, "Deployment \"shop\": exceeded quota"),
		cachev1.ReasonSuspended: changed(ready(cachev1.ReasonSuspended, "spec.suspend is true"), func(e *cause.Evidence) {
			e.Memcached.Spec.Suspend, e.Deployment, e.Pods = true, nil, nil
		}),
		cachev1.ReasonDefaultsDiffer:       healthyBut(update, cachev1.ReasonDefaultsDiffer, "image memcached:1.6.40 -> memcached:1.6.45. The update would replace the Pods."),
		cachev1.ReasonUpdateQueued:         healthyBut(update, cachev1.ReasonUpdateQueued, "image memcached:1.6.40 -> memcached:1.6.45. The update is queued."),
		cachev1.ReasonNoUpdatePending:      healthyBut(update, cachev1.ReasonNoUpdatePending, "No update is pending"),
		cachev1.ReasonUpdateInProgress:     healthyBut(update, cachev1.ReasonUpdateInProgress, "The update is applied; the Pods are being replaced"),
		cachev1.ReasonClientCARemoved:      healthyBut(restart, cachev1.ReasonClientCARemoved, "Clients of the CA \"old\" are accepted until the Pods are restarted"),
		cachev1.ReasonUserRemoved:          healthyBut(restart, cachev1.ReasonUserRemoved, "A removed user keeps open connections until the Pods are restarted"),
		cachev1.ReasonNamesMissing:         withTLS(healthyBut(names, cachev1.ReasonNamesMissing, "The certificate does not cover shop-2.shop-slots.team.svc"), false),
		cachev1.ReasonBootstrapWaiting:     healthyBut(bootstrap, cachev1.ReasonBootstrapWaiting, "No key is copied yet"),
		cachev1.ReasonBootstrapCopying:     healthyBut(bootstrap, cachev1.ReasonBootstrapCopying, "The keys are being copied"),
		cachev1.ReasonBootstrapFollowing:   healthyBut(bootstrap, cachev1.ReasonBootstrapFollowing, "All keys are copied"),
		cachev1.ReasonBootstrapCuttingOver: healthyBut(bootstrap, cachev1.ReasonBootstrapCuttingOver, "Not all changes are copied yet"),
		cachev1.ReasonBootstrapCutOver:     healthyBut(bootstrap, cachev1.ReasonBootstrapCutOver, "Clients may use both"),
		cachev1.ReasonBootstrapResuming:    healthyBut(bootstrap, cachev1.ReasonBootstrapResuming, "The Pod that copies has started again"),
		cachev1.ReasonBootstrapRestoring:   healthyBut(bootstrap, cachev1.ReasonBootstrapRestoring, `Job "shop-restore" adds the items of the snapshot "nightly"`),
		cachev1.ReasonBootstrapRestored:    healthyBut(bootstrap, cachev1.ReasonBootstrapRestored, `The snapshot "nightly" is restored`),
		cachev1.ReasonRestoreFailed:        healthyBut(bootstrap, cachev1.ReasonRestoreFailed, `Job "shop-restore" failed: no bucket. Correct the cause, then try again: kubectl -n team delete job shop-restore`),
		cachev1.ReasonHitRatioFell:         healthyBut(usual, cachev1.ReasonHitRatioFell, "Values when the deviation began: 10 % of the reads find their item, usually 90 %"),
		cachev1.ReasonEvictedSooner:        healthyBut(usual, cachev1.ReasonEvictedSooner, "Values when the deviation began: items are evicted after 1m0s without use, usually after 2h0m0s"),
		cachev1.ReasonConnectionsRose:      healthyBut(usual, cachev1.ReasonConnectionsRose, "Values when the deviation began: a Pod has 1000 connections, usually 100"),
		cachev1.ReasonConnectionsFell:      healthyBut(usual, cachev1.ReasonConnectionsFell, "Values when the deviation began: a Pod has 2 connections, usually 100"),
		cachev1.ReasonLatencyRose:          healthyBut(usual, cachev1.ReasonLatencyRose, "Values when the deviation began: memcached answers in 9.0 ms, usually in 0.1 ms"),
		cachev1.ReasonAsUsual:              healthyBut(usual, cachev1.ReasonAsUsual, "The cache is used as on a usual day"),
		cachev1.ReasonLearning:             healthyBut(usual, cachev1.ReasonLearning, "The operator is still learning how the cache is used on a usual day"),
		cachev1.ReasonNotReported:          healthyBut(usual, cachev1.ReasonNotReported, "No Pod reports how it is used"),
		cachev1.ReasonBootstrapFailed:      healthyBut(bootstrap, cachev1.ReasonBootstrapFailed, "10.0.0.1:11211: connection refused"),
	}
}

func printed(e cause.Evidence) string {
	var out bytes.Buffer
	_ = screen.Screen{Writer: &out, Now: cachetest.Now}.Explanation(cause.Explain(e))
	return out.String()
}

// quiet are the reasons that an explanation does not have to name, because users do not need to know them.
var quiet = []string{
	cachev1.ReasonNoUpdatePending, cachev1.ReasonBootstrapRestored, cachev1.ReasonAsUsual, cachev1.ReasonLearning,
}

// TestEachReasonOfTheAPIHasAScenario walks the constants of the API, so that no new one is forgotten.
func TestEachReasonOfTheAPIHasAScenario(t *testing.T) {
	all := scenarios()
	for _, reason := range page.Constants(t, "../../../api/v1", "Reasons of the") {
		e, found := all[reason.Value]
		if !found {
			t.Errorf("add a scenario for %s", reason.Name)
			continue
		}
		text := printed(e)
		if !strings.Contains(text, reason.Value) && !slices.Contains(quiet, reason.Value) {
			t.Errorf("the explanation does not name %s:\n%s", reason.Value, text)
		}
		page.Golden(t, "testdata/"+reason.Value+".txt", text, *update)
		delete(all, reason.Value)
	}
	for reason := range all {
		t.Errorf("%s is no reason of the API: remove its scenario", reason)
	}
}

func TestOnlyWhatNeedsNoActionHasNoNextCommand(t *testing.T) {
	for reason, e := range scenarios() {
		none := reason == cachev1.ReasonAllPodsReady || reason == cachev1.ReasonScaledToZero || slices.Contains(quiet, reason)
		if got := len(cause.Explain(e).Next) == 0; got != none {
			t.Errorf("%s: without a next command: %t", reason, got)
		}
	}
}

func TestOtherChainsMatchTheirGoldenFiles(t *testing.T) {
	crashing := scenarios()[cachev1.ReasonPodsNotReady]
	for name, e := range map[string]cause.Evidence{
		"no status": {Observed: access.Observed{Memcached: &cachev1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop"}}}},
		"no right to read logs and Nodes": changed(crashing, func(e *cause.Evidence) {
			e.Log, e.LogErr, e.Nodes = "", errors.New("pods is forbidden"), nil
			e.Unread = []string{"Nodes"}
		}),
		"Secrets of cert-manager and of users": withTLS(ready(cachev1.ReasonSecretNotFound, "the Secret \"shop-cert\" does not exist yet: "+
			"cert-manager has to create it; spec.auth.secretName \"shop-users\" does not exist: create the Secret"), true),
		"a Secret of others":           withTLS(ready(cachev1.ReasonOwnershipConflict, "Secret \"shop-cert\" may belong to another owner"), true),
		"a conflict without an object": ready(cachev1.ReasonOwnershipConflict, "it belongs to others"),
		"ready and paused": changed(ready(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready"), func(e *cause.Evidence) {
			e.Memcached.Spec.Suspend = true
		}),
		"a rollout that is paused": changed(ready(cachev1.ReasonRollingOut, "the rollout is paused"), func(e *cause.Evidence) {
			e.Memcached.Spec.Suspend = true
		}),
		"no right to read Pods": changed(ready(cachev1.ReasonPodsNotReady, "2 of 3 Pods ready"), func(e *cause.Evidence) {
			e.Deployment, e.Pods, e.Unread = nil, nil, []string{"Deployments", "Pods"}
		}),
		"a quota": changed(ready(cachev1.ReasonPodsNotReady, "2 of 3 Pods ready"), func(e *cause.Evidence) {
			e.Deployment.Status.Conditions = []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: pods",
			}}
		}),
		"an image that does not exist": changed(ready(cachev1.ReasonPodsNotReady, "2 of 3 Pods ready"), func(e *cause.Evidence) {
			pod := cachetest.Pod("shop", "3cccc", "node-a")
			pod.Status.Conditions, pod.Status.ContainerStatuses[0].Ready = nil, false
			pod.Status.ContainerStatuses[0].State = corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"},
			}
			e.Pods = append(e.Pods, pod)
		}),
		"cold slots": changed(ready(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready"), func(e *cause.Evidence) {
			cold := func(name, pod, reason string) cachev1.SlotStatus {
				return cachev1.SlotStatus{Name: name, Pod: pod, State: cachev1.SlotCold, Reason: reason, Since: new(cachetest.Ago(time.Hour))}
			}
			e.Memcached.Status.Slots = []cachev1.SlotStatus{
				cold("shop-0", e.Pods[0].Name, "OldUnreachable"), cold("shop-1", "", "NoPod"), cold("shop-2", e.Pods[1].Name, "HandoffNever"),
				{Name: "shop-3", State: cachev1.SlotServing},
			}
			e.Events = []corev1.Event{cachetest.Event("Memcached", "shop", "SlotStartedCold",
				"Slot shop-0: Pod "+e.Pods[0].Name+" started empty (OldUnreachable)", time.Hour)}
		}),
		"a bootstrap whose Pod fails": changed(scenarios()[cachev1.ReasonBootstrapFailed], func(e *cause.Evidence) {
			pod := cachetest.Crashing(cachetest.Pod("shop-bootstrap", "1aaaa", "node-a"), 1)
			pod.Spec.Containers[0].Name, pod.Status.ContainerStatuses[0].Name = "bootstrap", "bootstrap"
			e.Observed.Bootstrap = []corev1.Pod{pod}
			e.Bootstrap.Log = "copied 1000 keys\n10.0.0.1:11211: connection refused\n"
		}),
		"a bootstrap without a Node for its Pod": changed(scenarios()[cachev1.ReasonBootstrapWaiting], func(e *cause.Evidence) {
			e.Observed.Bootstrap = []corev1.Pod{cachetest.Pending(cachetest.Pod("shop-bootstrap", "1aaaa", ""),
				"0/3 nodes are available: 3 Insufficient memory.")}
		}),
		"a Node that is not ready": changed(crashing, func(e *cause.Evidence) {
			node := cachetest.Node("node-a", "zone-1")
			node.Spec.Unschedulable = true
			node.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"},
				{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue, Reason: "KubeletHasInsufficientMemory"},
			}
			e.Nodes = map[string]corev1.Node{"node-a": node}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			page.Golden(t, "testdata/other/"+strings.ReplaceAll(name, " ", "-")+".txt", printed(e), *update)
		})
	}
}

func TestALogDoesNotControlTheTerminal(t *testing.T) {
	e := scenarios()[cachev1.ReasonPodsNotReady]
	e.Log = "\x1b[2Jcleared\n"
	if text := printed(e); strings.Contains(text, "\x1b") || !strings.Contains(text, "^[[2Jcleared") {
		t.Errorf("the log is printed as it is: %q", text)
	}
}

// TestTheReasonsOfSlotsAreThoseOfTheDocs reads docs/memcached/status.md, which is generated from the comments of the
// reasons.
func TestTheReasonsOfSlotsAreThoseOfTheDocs(t *testing.T) {
	text := page.Read(t, "../../../../docs/memcached/status.md")
	_, table, _ := strings.Cut(text, "<!-- slot reasons")
	table, _, _ = strings.Cut(table, "<!-- end")
	rows := 0
	for line := range strings.SplitSeq(table, "\n") {
		reason, meaning, isRow := strings.Cut(strings.Trim(line, "| "), "` | ")
		if !isRow {
			continue
		}
		rows++
		e := ready(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
		reason = strings.TrimPrefix(reason, "`")
		e.Memcached.Status.Slots = []cachev1.SlotStatus{{Name: "shop-0", State: cachev1.SlotCold, Reason: reason}}
		if got := printed(e); !strings.Contains(got, "Slot shop-0 is Cold ("+reason+")\n  Memcached shop: "+meaning+"\n") {
			t.Errorf("the meaning of %s is not %q:\n%s", reason, meaning, got)
		}
	}
	if rows == 0 {
		t.Error("the page has no reasons")
	}
}
