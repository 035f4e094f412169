package watch

// Accounts for commands that memcached logs as reads although they are none.

// gets has a number of reads, and how many of these found their item.
type gets struct{ reads, found int64 }

func (g gets) since(before gets) gets { return gets{g.reads - before.reads, g.found - before.found} }

// difference is the difference between the reads in memcached's log and those in its statistics. Memcached also logs
// increments, touches and deletions of missing keys as reads.
type difference struct {
	begun           bool
	logged, counted gets // the numbers at the beginning
}

func (d *difference) begin(logged gets, now reading) {
	if !d.begun {
		d.begun, d.logged, d.counted = true, logged, gets{now.reads, now.hits}
	}
}

// ofReads converts a hit ratio of the logged reads to the hit ratio of the counted reads. It returns the ratio
// unchanged if there are too few reads, or if memcached logged fewer reads than it counted, because memcached then
// skipped some reads in the log.
func (d *difference) ofReads(ratio float64, logged gets, now reading) float64 {
	const enough = 10_000
	of, counted := logged.since(d.logged), gets{now.reads, now.hits}.since(d.counted)
	if counted.reads < enough || of.reads < counted.reads {
		return ratio
	}
	hits := ratio*float64(of.reads) - float64(max(0, of.found-counted.found))
	return min(1, max(0, hits/float64(counted.reads)))
}
