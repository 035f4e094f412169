package handoff

import "testing"

func TestTheMemoryOfItems(t *testing.T) {
	for size, want := range map[int64]int64{0: 96, 96: 96, 97: 120, 500: 600, 1000: 1184} { // by memcached's stats slabs
		if got := chunks[classOf(size)]; got != want {
			t.Errorf("%d bytes take %d, want %d", size, got, want)
		}
	}
	for name, tc := range map[string]struct {
		size, items int64
		in          room
		want        float64
	}{
		"a page for one":                   {100, 1, room{servers: 1, copiers: 1}, 1},
		"in each memcached":                {100, 3, room{servers: 3, copiers: 1}, 3},
		"as many as fit into a page":       {100, 8738, room{servers: 1, copiers: 1}, 1},
		"one more":                         {100, 8739, room{servers: 1, copiers: 1}, 2},
		"one more, and others do the rest": {100, 8738 + 4369, room{servers: 1, copiers: 2}, 1.75},
		"what is left of a page is unused": {400_000, 3, room{servers: 1, copiers: 1}, 2},
		"several chunks":                   {900_000, 2, room{servers: 1, copiers: 1}, 2},
	} {
		if got := tc.in.need(int(classOf(tc.size)), tc.items); got != tc.want {
			t.Errorf("%s: %v pages, want %v", name, got, tc.want)
		}
	}
}
