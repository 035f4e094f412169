package slot

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestWhenACopyHasToBeComplete(t *testing.T) {
	now := time.Now()
	tests := map[string]struct{ timeout, since, want time.Duration }{
		"a moment after the instruction": {time.Minute, -2 * time.Second, 58 * time.Second},
		"by a clock that is ahead":       {time.Minute, time.Hour, time.Minute},
		"by a clock that is late":        {time.Minute, -time.Hour, 30 * time.Second},
		"an agent that started again":    {time.Minute, -45 * time.Second, 15 * time.Second},
		"one that did so at the end":     {time.Minute, -59 * time.Second, time.Second},
	}
	for name, tc := range tests {
		m := Memcached{Timeout: tc.timeout}
		got := m.until(instruction.Instruction{Since: now.Add(tc.since)}, now)
		if got != now.Add(tc.want) {
			t.Errorf("%s: in %s, want in %s", name, got.Sub(now), tc.want)
		}
	}
	if got := (&Memcached{}).until(instruction.Instruction{}, now); !got.IsZero() {
		t.Errorf("without a timeout: %s", got)
	}
}
