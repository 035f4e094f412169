package watch

// Which reads of the log are none.

// gets are reads, and how many of them found their item.
type gets struct{ reads, found int64 }

func (g gets) since(before gets) gets { return gets{g.reads - before.reads, g.found - before.found} }

// difference is between what memcached logs as reads and what it counts as reads. It logs increments, touches and
// deletions of missing keys as reads, too.
type difference struct {
	begun           bool
	logged, counted gets // when it began
}

func (d *difference) begin(logged gets, now reading) {
	if !d.begun {
		d.begun, d.logged, d.counted = true, logged, gets{now.reads, now.hits}
	}
}

// ofReads changes a hit ratio of what is logged to one of what is counted. Too few are noise, and if memcached logged
// fewer it skipped some.
func (d *difference) ofReads(ratio float64, logged gets, now reading) float64 {
	const enough = 10_000
	of, counted := logged.since(d.logged), gets{now.reads, now.hits}.since(d.counted)
	if counted.reads < enough || of.reads < counted.reads {
		return ratio
	}
	hits := ratio*float64(of.reads) - float64(max(0, of.found-counted.found))
	return min(1, max(0, hits/float64(counted.reads)))
}
