package status

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

var update = flag.Bool("update", false, "write the table of docs/memcached/status.md again")

// TestTheDocsListWhatAPendingUpdateWaitsFor has a case for each result that the function awaited can return.
func TestTheDocsListWhatAPendingUpdateWaitsFor(t *testing.T) {
	cases := []struct {
		policy    cachev1.UpdatePolicy
		blocked   plan.Blocker
		suspended bool
		memory    bool
	}{
		{policy: cachev1.UpdateOnSpecChange}, {policy: cachev1.UpdateAutomatic, memory: true}, {policy: cachev1.UpdateAutomatic, blocked: plan.UpdateQueued},
		{policy: cachev1.UpdateAutomatic, suspended: true},
		{policy: cachev1.UpdateAutomatic, blocked: plan.SecretUnusable}, {policy: cachev1.UpdateAutomatic, blocked: plan.SlotMoves},
		{policy: cachev1.UpdateAutomatic, blocked: plan.KeysMove},
	}
	tested := map[string]bool{}
	var table bytes.Buffer
	table.WriteString("| reason | the message ends with |\n| --- | --- |\n")
	for _, tc := range cases {
		in := rolledOut()
		in.Memcached.Spec.UpdatePolicy, in.Plan.Suspended, in.Blocked = tc.policy, tc.suspended, tc.blocked
		in.Plan.OnlyMemory = tc.memory
		reason, message := awaited(in)
		fmt.Fprintf(&table, "| `%s` | `%s` |\n", reason, page.Cell(message))
		tested[string(tc.blocked)] = true
	}
	for _, blocker := range page.Constants(t, "../plan", "Blockers.") {
		if !tested[blocker.Value] {
			t.Errorf("add a case that is blocked by %s", blocker.Name)
		}
	}
	page.Tables(t, "../../../docs/memcached/status.md", *update, map[string]string{"pending": table.String()})
}
