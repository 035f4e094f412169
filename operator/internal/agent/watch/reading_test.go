package watch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
	"github.com/example-inc/memcached-operator/operator/internal/usage/curve"
)

func TestAHistory(t *testing.T) {
	class := func(count, age int64) map[string]eviction { return map[string]eviction{"1": {count, age}} }
	minute := func(count int) time.Time { return time.Unix(0, 0).Add(time.Duration(count) * time.Minute) }
	tests := map[string]struct {
		readings []reading // a minute apart
		want     usage.Report
	}{
		"one reading says nothing about a time": {
			[]reading{{process: "7", hits: 5, reads: 9, evicted: class(3, 40)}}, usage.Report{},
		},
		"hits and reads are those since the first one": {
			[]reading{{process: "7", hits: 5, reads: 10}, {process: "7", hits: 8, reads: 14}}, usage.Report{
				Reads: 4, HitRatio: 0.75, RecentReads: 4, RecentHitRatio: 0.75,
			},
		},
		"the age is that of the youngest item that was evicted": {
			[]reading{
				{process: "7", evicted: class(1, 90)}, {process: "7", evicted: class(2, 30)}, {process: "7", evicted: class(3, 60)},
			},
			usage.Report{Evicting: true, EvictedAge: 30},
		},
		"what was evicted with another memory, or while that changed, says nothing": {
			[]reading{
				{process: "7", memory: 1}, {process: "7", memory: 1, evicted: class(1, 30)}, {process: "7", memory: 2, evicted: class(2, 40)},
				{process: "7", memory: 2, evicted: class(3, 50)},
			},
			usage.Report{Memory: 2, Evicting: true, EvictedAge: 50},
		},
		"an item that was copied, and is evicted, says nothing, and one that was used since does": {
			[]reading{
				{process: "7"}, {process: "7", copied: minute(1), evicted: class(1, 59)},
				{process: "7", copied: minute(1), evicted: class(2, 0)}, {process: "7", copied: minute(1), evicted: class(3, 58)},
			},
			usage.Report{Evicting: true, EvictedAge: 58, EvictingCopied: true},
		},
		"only items that were copied are evicted": {
			[]reading{{process: "7"}, {process: "7", copied: minute(0), evicted: class(1, 60)}},
			usage.Report{EvictingCopied: true},
		},
		"an item can be evicted in the second in which it was used": {
			[]reading{{process: "7"}, {process: "7", evicted: class(2, 0)}}, usage.Report{Evicting: true},
		},
		"recent reads are those of five minutes": {
			[]reading{
				{process: "7", hits: 0, reads: 100}, {process: "7", hits: 0, reads: 200}, {process: "7", hits: 50, reads: 300},
				{process: "7", hits: 50, reads: 300}, {process: "7", hits: 50, reads: 300}, {process: "7", hits: 50, reads: 300},
				{process: "7", hits: 100, reads: 400, connections: 9, latency: 80},
			},
			usage.Report{
				Reads: 300, HitRatio: 1. / 3, RecentReads: 200, RecentHitRatio: 0.5, Connections: 9, Latency: 80,
			},
		},
		"a memcached that was restarted has no history": {
			[]reading{{process: "7", hits: 5, reads: 9}, {process: "8", hits: 7, reads: 12, evicted: class(3, 40)}}, usage.Report{},
		},
		"counters that were reset have none": {
			[]reading{{process: "7", hits: 5, reads: 9}, {process: "7", hits: 1, reads: 2}}, usage.Report{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var h history
			var got usage.Report
			for i, r := range tc.readings {
				r.at, r.youngest = minute(i), -1
				if r.copied.IsZero() {
					r.copied = minute(-60)
				}
				got = h.add(r)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFewReadingsAreKept(t *testing.T) {
	var h history
	for second := range 3 * 3600 {
		h.add(reading{at: time.Unix(int64(second), 0), reads: int64(second), youngest: -1})
	}
	got := h.add(reading{at: time.Unix(3*3600, 0), reads: 3 * 3600, youngest: -1})
	if len(h.readings) > 130 || got.Reads < 3600 || got.Reads > 3700 {
		t.Errorf("%d readings, %d reads in an hour of one a second", len(h.readings), got.Reads)
	}
}

func TestAnItemTakesChunksOfPages(t *testing.T) {
	l := newLayout(map[string]string{
		"1:chunk_size": "96", "1:chunks_per_page": "10922", "1:total_pages": "1",
		"39:chunk_size": "524288", "39:chunks_per_page": "2", "39:total_pages": "3",
		"5:chunk_size": "1184", "5:chunks_per_page": "885", "5:total_pages": "0", "total_malloced": "4194304",
	})
	tests := map[string]struct {
		item curve.Item
		want float64
	}{
		"a small one":              {curve.Item{Size: 70, Class: 1}, 1048576. / 10922},
		"one of an unknown class":  {curve.Item{Size: 70, Class: 9}, 70},
		"one that fits a chunk":    {curve.Item{Size: 500_000, Class: 39}, 524288},
		"one of several chunks":    {curve.Item{Size: 1<<20 + 10, Class: 39}, 1<<20 + 10},
		"a class without any page": {curve.Item{Size: 1000, Class: 5}, 1048576. / 885},
	}
	for name, tc := range tests {
		if got := l.bytes(tc.item); got != tc.want {
			t.Errorf("%s: %f, want %f", name, got, tc.want)
		}
	}
	if l.spare() != 2<<20 {
		t.Errorf("%f bytes are spare, want those of two classes", l.spare())
	}
}
