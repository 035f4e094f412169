package actions

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAThirdPartyEditsWhoHoldsTheSlots(t *testing.T) {
	tests := map[string]string{
		"remove":  "[a-1=q true]",
		"empty":   "[]",
		"swap":    "[a-1=p true a-0=q true]",
		"repeat":  "[a-0=p true a-1=p true]",
		"unready": "[a-0=p false a-1=q true]",
		"unknown": "[a-0=none-0 true a-1=q true]",
	}
	for change, want := range tests {
		t.Run(change, func(t *testing.T) {
			var entries []any
			for slot, pod := range []string{"p", "q"} {
				entries = append(entries, map[string]any{
					"hostname": fmt.Sprint("a-", slot), "targetRef": map[string]any{"uid": pod},
					"conditions": map[string]any{"ready": true},
				})
			}
			got := []string{}
			for _, entry := range changeRecord(entries, recording{Change: change}) {
				fields := entry.(map[string]any)
				got = append(got, fmt.Sprintf("%v=%v %v", fields["hostname"], fields["targetRef"].(map[string]any)["uid"],
					fields["conditions"].(map[string]any)["ready"]))
			}
			if diff := cmp.Diff(want, fmt.Sprint(got)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}
