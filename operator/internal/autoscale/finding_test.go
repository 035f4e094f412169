package autoscale

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

func TestAFindingStaysTheSameWhileLittleDiffers(t *testing.T) {
	in := acting().withReport("a", gib, evicting(time.Hour))
	in.State = Decide(in)
	for _, perHour := range []int64{gib - 10*mebibyte, gib - 60*mebibyte} {
		again := in
		again.Reports.Seen = nil
		again = again.withReport("a", perHour, func(r *usage.Report) {
			evicting(61 * time.Minute)(r)
			r.HitRatio += 0.012
		})
		if diff := cmp.Diff(in.State, Decide(again)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWhatWasFoundIsKeptWhileNobodyReports(t *testing.T) {
	in := acting().withReport("a", 2*gib, evicting(time.Minute))
	in.Busy = true
	in.State = Decide(in)
	in.Reports.Seen = nil
	found := Decide(in).Finding
	if found.Reason != Silent || found.Recommended != 2*gib || found.Expected != in.State.Finding.Expected {
		t.Errorf("%+v", found)
	}
}

func TestTheExpectedHitRatioIsThatOfTheCurve(t *testing.T) {
	in := acting().withReport("a", 2*gib, evicting(time.Minute))
	if found := Decide(in).Finding; found.Expected != 86 || found.HitRatio != 90 {
		t.Errorf("%+v", found)
	}
}
