package app

import (
	"runtime/debug"
	"testing"
)

func TestBoundMemory(t *testing.T) {
	const goPercent, goLimit = 100, int64(1) << 40 // The settings of Go before each test.
	tests := map[string]struct {
		limit, gogc, gomemlimit string
		wantPercent             int
		wantLimit               int64
	}{
		"by the limit of the container":      {limit: "100000000", wantPercent: garbage, wantLimit: 90_000_000},
		"without a limit":                    {wantPercent: garbage, wantLimit: goLimit},
		"a limit that is none":               {limit: "0", wantPercent: garbage, wantLimit: goLimit},
		"a limit that can't be read":         {limit: "256Mi", wantPercent: garbage, wantLimit: goLimit},
		"Go's own variables take precedence": {"100000000", "75", "1GiB", goPercent, goLimit},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			percent, limit := debug.SetGCPercent(goPercent), debug.SetMemoryLimit(goLimit)
			defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
			t.Setenv(EnvMemoryLimit, tc.limit)
			t.Setenv("GOGC", tc.gogc)
			t.Setenv("GOMEMLIMIT", tc.gomemlimit)
			BoundMemory()
			if got := debug.SetGCPercent(goPercent); got != tc.wantPercent {
				t.Errorf("%d percent of garbage, want %d", got, tc.wantPercent)
			}
			if got := debug.SetMemoryLimit(-1); got != tc.wantLimit {
				t.Errorf("limit %d, want %d", got, tc.wantLimit)
			}
		})
	}
}
