package controller

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/crd"
)

var update = flag.Bool("update", false, "write the tables of docs/memcached/status.md again")

const (
	repository = "../../.."
	typeFiles  = repository + "/operator/api/v1"
)

func TestTheDocsListTheWholeStatusAndAllEvents(t *testing.T) {
	page.Tables(t, repository+"/docs/memcached/status.md", *update, map[string]string{
		"fields": fieldTable(t), "conditions": conditionTable(t), "reasons": reasonTable(t),
		"slot reasons": slotReasonTable(t), "events": eventTable(t),
	})
}

func fieldTable(t *testing.T) string {
	t.Helper()
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	table.WriteString("| field | is |\n| --- | --- |\n")
	for _, field := range fields {
		path, isStatus := strings.CutPrefix(field.Path, "status.")
		if !isStatus || strings.HasSuffix(path, "[]") {
			continue
		}
		sentences := append([]string{field.Meaning()}, field.Sentences()[1:]...)
		fmt.Fprintf(&table, "| `%s` | %s |\n", path, strings.ReplaceAll(page.Cell(strings.Join(sentences, " ")), "<", `\<`))
	}
	return table.String()
}

func conditionTable(t *testing.T) string {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("| condition | is |\n| --- | --- |\n")
	for _, condition := range page.Constants(t, typeFiles, "Condition types of a Memcached") {
		fmt.Fprintf(&table, "| `%s` | %s |\n", condition.Value, page.Cell(condition.Meaning))
	}
	return table.String()
}

// reasonTable returns a table of the reasons of all conditions except three: Reconciling and Stalled have the reason
// that Ready has, and the reason of Suspended is the name of the condition.
func reasonTable(t *testing.T) string {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("| condition | reason | means |\n| --- | --- | --- |\n")
	for _, condition := range page.Constants(t, typeFiles, "Condition types of a Memcached") {
		if slices.Contains([]string{
			cachev1.ConditionReconciling, cachev1.ConditionStalled, cachev1.ConditionSuspended,
		}, condition.Value) {
			continue
		}
		for _, reason := range page.Constants(t, typeFiles, "Reasons of the "+condition.Value+" condition.") {
			fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", condition.Value, reason.Value, page.Cell(reason.Meaning))
		}
	}
	return table.String()
}

// slotReasonTable returns a table of the reasons of a cold slot: first those that the operator reports, then those that
// the agent reports.
func slotReasonTable(t *testing.T) string {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("| reason | means |\n| --- | --- |\n")
	for _, reason := range slices.Concat(
		page.Constants(t, "../slots", "Reasons of a slot that is cold"),
		page.Constants(t, "../agent/peer", "Reasons of a failed copy"),
		page.Constants(t, "../agent/handoff", "Reasons of a Failure"),
	) {
		fmt.Fprintf(&table, "| `%s` | %s |\n", reason.Value, page.Cell(strings.TrimSuffix(reason.Meaning, ".")))
	}
	return table.String()
}

func eventTable(t *testing.T) string {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("| reason | type | when | note, for example |\n| --- | --- | --- | --- |\n")
	for _, reason := range page.Constants(t, ".", eventBlock) {
		index := slices.IndexFunc(examples(), func(e pendingEvent) bool { return e.reason == reason.Value })
		if index < 0 {
			t.Fatalf("the event %s has no example", reason.Value)
		}
		example := examples()[index]
		fmt.Fprintf(&table, "| `%s` | %s | %s | `%s` |\n",
			reason.Value, example.eventType, page.Cell(reason.Meaning), page.Cell(example.note))
	}
	for _, reason := range page.Constants(t, typeFiles, "Reasons of the Ready condition.") {
		found := transition(cachev1.MemcachedStatus{}, readyWith(reason.Value, ""))
		if len(found) == 0 {
			continue
		}
		when := "this is the new reason of `Ready`"
		if len(transition(readyWith(reason.Value, "before"), readyWith(reason.Value, "now"))) > 0 {
			when = "this is the new reason of `Ready`, or its message is new"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | the message of `Ready` |\n", reason.Value, found[0].eventType, when)
	}
	return table.String()
}

func readyWith(reason, message string) cachev1.MemcachedStatus {
	return cachev1.MemcachedStatus{Conditions: []metav1.Condition{{
		Type: cachev1.ConditionReady, Reason: reason, Message: message,
	}}}
}

// TestEventsHaveOnlyReasonsOfTheTable: the documentation would not list a reason that is a literal in the code instead
// of a constant.
func TestEventsHaveOnlyReasonsOfTheTable(t *testing.T) {
	literal := regexp.MustCompile(`reason: +"|normal\([^,]+(\{\})?, "`)
	for _, file := range []string{"events.go", "statusevents.go"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := literal.Find(content); found != nil {
			t.Errorf("%s has a reason that is no constant: %s", file, found)
		}
	}
}
