package slots

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/randfill"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// FuzzDecide: whatever is observed, no slot has two Pods, no Pod two slots, no Pod two changes, and the same input gives
// the same decision.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("shop-0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in Input
		filler := arbitrary.Filler(data).Funcs(func(m *Memory, c randfill.Continue) {
			c.FillNoCustom(&m.Started)
			c.FillNoCustom(&m.Wanted)
			m.Container = func(former int64) Container { return Container{m.Wanted, max(m.Wanted, former)} }
		})
		filler.Fill(&in)
		in.Size = min(max(in.Size, -1), 9)
		bend(&in)
		d := Decide(in)
		if diff := cmp.Diff(d, Decide(in)); diff != "" {
			t.Fatalf("the same input gives another decision:\n%s", diff)
		}
		if in.Suspended {
			return
		}
		slots, pods, changed := map[int]bool{}, map[string]bool{}, map[string]bool{}
		for _, endpoint := range d.Endpoints {
			if slots[endpoint.Slot] || endpoint.Slot < 0 || endpoint.Slot >= in.Size || pods[endpoint.UID] {
				t.Fatalf("%+v", d.Endpoints)
			}
			slots[endpoint.Slot], pods[endpoint.UID] = true, true
		}
		for _, change := range d.Changes {
			if changed[change.UID] {
				t.Fatalf("two changes of %s", change.UID)
			}
			changed[change.UID] = true
		}
		if d.RequeueAfter < 0 || d.Replicas < 0 {
			t.Fatalf("%+v", d)
		}
	})
}

// bend makes some names equal, which arbitrary values never are.
func bend(in *Input) {
	roles := []instruction.Role{"", "serve", "cold", "receive", "moved", "leave", Unknown}
	for i := range in.Pods {
		pod := &in.Pods[i]
		pod.UID = string(rune('a' + len(pod.Name)%5))
		pod.Gated = len(pod.Name)%7 > 0
		pod.Instruction.Role = roles[len(pod.IP)%len(roles)]
		pod.Instruction.Slot = in.slotName(len(pod.Hash) % 4)
		pod.Instruction.Record.Predecessor = string(rune('a' + len(pod.Hash)%5))
	}
	for i := range in.Endpoints {
		endpoint := &in.Endpoints[i]
		endpoint.Slot = len(endpoint.Pod)%6 - 1
		endpoint.UID = string(rune('a' + len(endpoint.IP)%6))
	}
}
