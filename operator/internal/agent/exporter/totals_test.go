package exporter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSlabClassesMakeOneSeriesUnlessEachIsRequested(t *testing.T) {
	e, _ := newExporter(t, newMemcached(t, map[string]string{
		"stats items": "STAT items:3:number 7\r\nSTAT items:9:number 2\r\nSTAT items:3:age 50\r\nSTAT items:9:age 900\r\n" +
			"STAT items:3:hits_to_temp 1\r\nSTAT items:9:hits_to_temp 2\r\n",
		"stats slabs": "STAT 3:chunk_size 96\r\nSTAT 3:used_chunks 7\r\nSTAT 9:used_chunks 2\r\nSTAT 3:get_hits 4\r\nSTAT 9:get_hits 5\r\n",
	}))
	e.SlabClasses = false
	want := []string{
		"memcached_slab_chunks_used 9", `memcached_slab_commands_total{command="get",status="hit"} 9`,
		"memcached_slab_current_items 9", "memcached_slab_items_age_seconds 900",
		`memcached_slab_lru_hits_total{lru="temporary"} 3`, "memcached_up 1",
	}
	if diff := cmp.Diff(want, series(t, e.Collect(t.Context()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheAgeOfEvictionsIsThatOfTheClassesThatEvictNow: a class that evicted young items an hour ago, and none since,
// must not count.
func TestTheAgeOfEvictionsIsThatOfTheClassesThatEvictNow(t *testing.T) {
	m := newMemcached(t, map[string]string{})
	e, _ := newExporter(t, m)
	e.SlabClasses = false
	type class struct{ evicted, age int }
	for _, scrape := range []struct {
		name    string
		classes map[int]class
		want    string
	}{
		{"nothing was ever evicted", map[int]class{1: {}, 2: {}}, "0"},
		{"one class evicts", map[int]class{1: {5, 20}, 2: {}}, "20"},
		{"nothing since", map[int]class{1: {5, 20}, 2: {}}, "20"},
		{"another class evicts older items", map[int]class{1: {5, 20}, 2: {9, 7000}}, "7000"},
		{"both do", map[int]class{1: {6, 300}, 2: {10, 7100}}, "300"},
		{"memcached was started again", map[int]class{1: {}, 2: {}}, "300"},
		{"and evicts", map[int]class{1: {}, 2: {3, 40}}, "40"},
	} {
		var stats strings.Builder
		for _, number := range slices.Sorted(maps.Keys(scrape.classes)) {
			c := scrape.classes[number]
			fmt.Fprintf(&stats, "STAT items:%d:evicted %d\r\nSTAT items:%d:evicted_time %d\r\n", number, c.evicted, number, c.age)
		}
		m.answer("stats items", stats.String())
		got := series(t, e.Collect(t.Context()))
		if want := "memcached_slab_items_evicted_time_seconds " + scrape.want; !slices.Contains(got, want) {
			t.Errorf("%s: want %s in %q", scrape.name, want, got)
		}
	}
}

// TestAPodHasAboutAHundredSeriesAndManyMoreOnlyIfEachClassIsRequested counts the series of a memcached with all slab
// classes.
func TestAPodHasAboutAHundredSeriesAndManyMoreOnlyIfEachClassIsRequested(t *testing.T) {
	all := answers{general: everything(general), settings: everything(settings), items: map[string]map[string]string{}, slabs: map[string]map[string]string{}}
	for class := range 63 {
		all.items[fmt.Sprint(class+1)], all.slabs[fmt.Sprint(class+1)] = everything(items), everything(slabs)
	}
	few, many := len(all.samples(false, &evictions{})), len(all.samples(true, &evictions{}))
	if few > 110 || many < 2000 {
		t.Errorf("%d series by totals, %d by classes", few, many)
	}
}

// everything returns an answer with all statistics that the rows need.
func everything(rows []row) map[string]string {
	stats := map[string]string{}
	for _, row := range rows {
		for _, name := range row.stats {
			stats[name] = "1"
		}
	}
	return stats
}
