package watch

import (
	"fmt"
	"testing"
)

func TestAHitRatioIsOfReads(t *testing.T) {
	tests := map[string]struct {
		logged  gets
		counted gets
		want    string
	}{
		"all that is logged is a read":           {gets{20_000, 10_000}, gets{20_000, 10_000}, "0.60"},
		"deletions of missing keys do not count": {gets{24_000, 10_000}, gets{20_000, 10_000}, "0.72"},
		"increments do not count":                {gets{24_000, 14_000}, gets{20_000, 10_000}, "0.52"},
		"few reads are noise":                    {gets{200, 100}, gets{100, 100}, "0.60"},
		"fewer are logged than counted":          {gets{10_000, 5_000}, gets{20_000, 10_000}, "0.60"},
	}
	for name, tc := range tests {
		var d difference
		d.begin(gets{100, 50}, reading{reads: 1000, hits: 900})
		tc.logged.reads, tc.logged.found = tc.logged.reads+100, tc.logged.found+50
		got := d.ofReads(0.6, tc.logged, reading{reads: tc.counted.reads + 1000, hits: tc.counted.found + 900})
		if fmt.Sprintf("%.2f", got) != tc.want {
			t.Errorf("%s: %.2f, want %s", name, got, tc.want)
		}
	}
}
