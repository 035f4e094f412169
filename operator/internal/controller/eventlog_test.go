package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/metrics"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// examples returns an event with each reason, about the cache named sessions.
func examples() []pendingEvent {
	const pod, next = "sessions-6c9f-2kq8d", "sessions-7d4b-x2x7k"
	of := func(kind string) apply.Outcome {
		return apply.Outcome{GroupKind: schema.GroupKind{Kind: kind}, Name: "sessions"}
	}
	deployment := apply.Outcome{GroupKind: observe.DeploymentKind.GroupKind(), Name: "sessions"}
	changed, drifted := deployment, deployment
	changed.Fields = []string{".spec.template.spec.containers[memcached].args"}
	drifted.Drift = []drift.Drift{{Field: ".spec.replicas", Was: "3", Is: "7"}}
	suspended := cachev1.MemcachedStatus{Conditions: []metav1.Condition{{
		Type: cachev1.ConditionSuspended, Status: metav1.ConditionTrue, Reason: cachev1.ReasonSuspended,
		Message: status.SuspendedMessage,
	}}}
	return slices.Concat([]pendingEvent{
		created(apply.Report{of("Service"), deployment, of("NetworkPolicy")}), broughtUpToSpec(changed), rescaled(deployment, 5),
		adopted(deployment), deleted(of("PodDisruptionBudget")), driftCorrected(drifted), paused(deployment),
		resumedRollout(deployment),
		handedOver(status.HandedOver{Name: "sessions-0", From: pod, To: next, Took: 12 * time.Second}),
		startedCold(cachev1.SlotStatus{Name: "sessions-0", Pod: next, Reason: slots.ReasonTimedOut}),
		slotsRemoved(1, 3), updatesStopped(),
	}, chosen(withMemory("1Gi"), withMemory("1536Mi"), because(
		"Items that are not used would stay for 1h0m0s with 1536Mi, but stay for a shorter time with 1Gi")),
		chosen(withPods(3), withPods(5), because(
			"Items that are not used would stay for 1h0m0s with 5 Pods, but stay for a shorter time with 3 Pods")),
		suspension(cachev1.MemcachedStatus{}, suspended),
		suspension(suspended, cachev1.MemcachedStatus{}),
		unusual(deviating(cachev1.ReasonHitRatioFell), usualAgain()))
}

// line is a line of the log.
type line map[string]any

// logTo returns a logger that adds its lines to a list.
func logTo(t *testing.T, lines *[]line) logr.Logger {
	t.Helper()
	return funcr.NewJSON(func(text string) {
		parsed := line{}
		if err := json.Unmarshal([]byte(text), &parsed); err != nil {
			t.Fatal(err)
		}
		*lines = append(*lines, parsed)
	}, funcr.Options{})
}

func TestEachKindOfEventIsALineOfTheLogWithTheSameWords(t *testing.T) {
	recorded := map[string]bool{}
	for _, event := range examples() {
		var lines []line
		recorder := events.NewFakeRecorder(1)
		event.record(logTo(t, &lines), recorder, &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Generation: 7}})
		want := event.eventType + " " + event.reason + " " + event.note
		if got := <-recorder.Events; got != want {
			t.Errorf("recorded %q, want %q", got, want)
		}
		if len(lines) != 1 || lines[0]["msg"] != event.note || lines[0]["event"] != event.reason || lines[0]["generation"] != 7. {
			t.Errorf("%s: logged %v", event.reason, lines)
		}
		recorded[event.reason] = true
	}
	for _, reason := range page.Constants(t, ".", eventBlock) {
		if !recorded[reason.Value] {
			t.Errorf("the event %s has no example", reason.Value)
		}
	}
}

// eventBlock is how the comment of the constants of events begins.
const eventBlock = "Reasons of events."

func TestEachNewInstructionOfAPodIsALineOfTheLog(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	serving := instruction.Instruction{Slot: "shop-0", Role: instruction.Serve, Since: at}
	pods := []slots.Pod{
		{Name: "shop-a", UID: "a", IP: "10.0.0.1", Instruction: serving}, {Name: "shop-b", UID: "b", IP: "10.0.0.2"},
	}
	instructed := func(i instruction.Instruction) []slots.Change {
		return []slots.Change{{Pod: "shop-b", UID: "b", Instruction: &i}}
	}
	recorded := serving
	recorded.Record.MovedAt = at
	tests := map[string]struct {
		written []slots.Change
		want    []string
	}{
		"at rest there is none":           {},
		"a changed deletion cost is none": {written: []slots.Change{{Pod: "shop-b", UID: "b", Cost: new(slots.CostLeave)}}},
		"a changed record is none":        {written: []slots.Change{{Pod: "shop-a", UID: "a", Instruction: &recorded}}},
		"it serves": {
			written: instructed(instruction.Instruction{Slot: "shop-0", Role: instruction.Serve}),
			want:    []string{"Slot shop-0: Pod shop-b serves it"},
		},
		"it copies": {
			written: instructed(instruction.Instruction{Slot: "shop-0", Role: instruction.Receive, From: "10.0.0.1"}),
			want:    []string{"Slot shop-0: Pod shop-b copies the keys of Pod shop-a"},
		},
		"it copies from a Pod that is not known": {
			written: instructed(instruction.Instruction{Slot: "shop-0", Role: instruction.Receive, From: "10.0.0.9"}),
			want:    []string{"Slot shop-0: Pod shop-b copies the keys of Pod 10.0.0.9"},
		},
		"it has the slot": {
			written: instructed(instruction.Instruction{Slot: "shop-0", Role: instruction.Moved, From: "10.0.0.1"}),
			want:    []string{"Slot shop-0: moved to Pod shop-b, while Pod shop-a still serves connected clients"},
		},
		"it leaves": {
			written: instructed(instruction.Instruction{Slot: "shop-0", Role: instruction.Leave, End: 30}),
			want:    []string{"Slot shop-0: Pod shop-b gave it away, and ends memcached in 30 s"},
		},
		"it starts empty": {
			written: instructed(instruction.Instruction{
				Slot: "shop-0", Role: instruction.Cold, Record: instruction.Record{Reason: slots.ReasonPodLost},
			}),
			want: []string{"Slot shop-0: Pod shop-b takes it empty (PodLost)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var lines []line
			var got []string
			logInstructions(logTo(t, &lines), pods, tc.written)
			for _, logged := range lines {
				got = append(got, logged["msg"].(string))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingIsLoggedAtRest: a line for each reconciliation would hide the lines that matter.
func TestNothingIsLoggedAtRest(t *testing.T) {
	steady := cachev1.MemcachedStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{{
		Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady, Message: "3 of 3 Pods ready",
	}}, Slots: []cachev1.SlotStatus{{Name: "cache-0", Pod: "cache-a", State: cachev1.SlotServing}}}
	c := &reconciliation{
		memcached: &cachev1.Memcached{Status: steady}, status: steady,
		report: apply.Report{{GroupKind: observe.DeploymentKind.GroupKind(), Name: "cache", Result: apply.Unchanged}},
	}
	if found := eventsOf(c); len(found) > 0 {
		t.Errorf("events: %v", found)
	}
}

// TestWhatWasDoneIsRecordedAlsoIfTheStatusCannotBeWritten: events about changed objects are recorded even then, because
// the next reconciliation does not find these changes again. Events about the status are recorded once the status is
// written.
func TestWhatWasDoneIsRecordedAlsoIfTheStatusCannotBeWritten(t *testing.T) {
	for answer, want := range map[error][]string{
		nil: {`Created: Deployment "cache" created`, "InvalidSpec: no"}, errors.New("no answer"): {`Created: Deployment "cache" created`},
	} {
		recorder := events.NewFakeRecorder(9)
		r := &Reconciler{
			client:   statusClient{status: &answering{answers: map[types.PatchType]error{types.MergePatchType: answer}}},
			statuses: newStatuses(), updates: newUpdateQueue(1), metrics: metrics.New(prometheus.NewRegistry()), events: recorder,
		}
		var lines []line
		_, err := r.report(log.IntoContext(t.Context(), logTo(t, &lines)), &reconciliation{
			memcached: &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Generation: 2, ResourceVersion: "7"}},
			outcome:   plan.Invalid{Problems: []string{"no"}},
			report:    apply.Report{{GroupKind: observe.DeploymentKind.GroupKind(), Name: "cache", Result: apply.Created}},
		})
		var got []string
		for _, logged := range lines {
			got = append(got, fmt.Sprintf("%s: %s", logged["event"], logged["msg"]))
		}
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (answer != nil) || len(recorder.Events) != len(want) {
			t.Errorf("error %v, %d events, logged (-want +got):\n%s", err, len(recorder.Events), diff)
		}
	}
}

// pausedDeployment returns a Deployment whose rollout the operator paused.
func pausedDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cache", ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: names.PauseOwner, Operation: metav1.ManagedFieldsOperationApply},
	}}}
}

func snapshotOf(deployment *appsv1.Deployment) observe.Snapshot {
	key := observe.Key{GroupKind: observe.DeploymentKind.GroupKind(), Name: deployment.Name}
	return observe.Snapshot{Name: deployment.Name, Objects: map[observe.Key]client.Object{key: deployment}}
}

// TestErrorsInTheLogAreSentences looks at the errors that the program logs. They have to say what is wrong, but a text
// such as "List the Memcacheds" says only what was tried.
func TestErrorsInTheLogAreSentences(t *testing.T) {
	for _, message := range page.Messages(t, "../..", "Error") {
		if words := strings.Fields(message); len(words) < 3 || !slices.ContainsFunc(words[1:], isVerb) {
			t.Errorf("the error %q is no sentence: say what is wrong, such as: Memcacheds cannot be listed", message)
		}
	}
}

func isVerb(word string) bool {
	return slices.Contains([]string{"is", "are", "was", "cannot", "could", "did", "ended", "failed", "crashed"}, word)
}
