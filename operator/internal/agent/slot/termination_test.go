package slot

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// seen is what a terminating Pod finds out about its slot and its keys, beginning at the time from.
type seen struct {
	from   time.Duration
	holder Holder
	copied bool
}

func TestAPodThatTerminatesServesItsSlotUntil(t *testing.T) {
	const drain, timeout, looks = 30 * time.Second, 10 * time.Minute, 2 * time.Second
	tests := map[string]struct {
		role    instruction.Role
		timeout time.Duration // 0 means the default
		sees    []seen
		want    time.Duration
	}{
		"no time, if it has no slot":                                                 {role: instruction.None},
		"clients have left, if it gave its slot away before":                         {role: instruction.Leave, want: drain},
		"no copy has begun for two minutes":                                          {role: serve, sees: []seen{{0, ThisPod, false}}, want: Patience},
		"no copy has begun within the time of a handoff":                             {role: serve, timeout: time.Minute, sees: []seen{{0, ThisPod, false}}, want: time.Minute},
		"the handoff takes too long":                                                 {role: serve, sees: []seen{{0, ThisPod, false}, {time.Minute, ThisPod, true}}, want: timeout},
		"the handoff takes too long, though the copy failed":                         {role: serve, sees: []seen{{0, ThisPod, true}, {time.Minute, ThisPod, false}}, want: timeout},
		"clients have left, once another Pod has the slot":                           {role: serve, sees: []seen{{0, ThisPod, true}, {time.Minute, AnotherPod, true}}, want: time.Minute + drain},
		"another Pod has had the slot for some time, if it never saw that it had it": {role: moved, sees: []seen{{0, AnotherPod, false}}, want: remembered},
		"the slot has had no name for some time":                                     {role: serve, sees: []seen{{0, ThisPod, false}, {10 * time.Second, NoPod, false}}, want: 10*time.Second + remembered},
		"but not if its name was missing for a moment":                               {role: serve, sees: []seen{{0, NoPod, false}, {10 * time.Second, ThisPod, false}}, want: Patience},
		"nor if a DNS server still answers with what was before":                     {role: moved, sees: []seen{{0, AnotherPod, false}, {10 * time.Second, ThisPod, false}}, want: Patience},
		"the slot has had no name for some time, though one question had no answer":  {role: serve, sees: []seen{{0, NoPod, false}, {5 * time.Second, Unknown, false}, {7 * time.Second, NoPod, false}}, want: remembered},
		"the handoff takes too long, if no DNS server answers":                       {role: serve, sees: []seen{{0, Unknown, true}}, want: timeout},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				now := func() (s seen) {
					for _, next := range test.sees {
						if time.Since(began) >= next.from {
							s = next
						}
					}
					return s
				}
				termination := Termination{
					Drain: drain, Timeout: cmp.Or(test.timeout, timeout), Log: slog.New(slog.DiscardHandler),
					Holder: func(context.Context, string) Holder { return now().holder },
					Copied: func(context.Context) bool { return now().copied },
				}
				termination.Wait(t.Context(), instruction.Instruction{Role: test.role, Slot: "shop-0"})
				if got := time.Since(began); got < test.want || got > test.want+looks {
					t.Errorf("it ended after %s, want %s", got, test.want)
				}
			})
		})
	}
}

func TestAPodThatTerminatesLogsWhyItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, holder := &bytes.Buffer{}, ThisPod
		termination := Termination{
			Drain: time.Minute, Timeout: time.Hour, Log: slog.New(slog.NewTextHandler(log, nil)),
			Holder: func(context.Context, string) Holder { return holder },
			Copied: func(context.Context) bool {
				holder = AnotherPod
				return true
			},
		}
		termination.Wait(t.Context(), instruction.Instruction{Role: serve, Slot: "shop-0"})
		var reasons []string
		for line := range strings.Lines(log.String()) {
			_, reason, _ := strings.Cut(line, "why=")
			reasons = append(reasons, strings.Split(reason, `"`)[1])
		}
		want := []string{
			"another Pod copies its keys",
			"another Pod has the slot, and clients with open connections still use this one",
		}
		if diff := gocmp.Diff(want, reasons); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
