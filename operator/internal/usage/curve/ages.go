package curve

// The ages for which the memory is estimated.

import (
	"math"
	"sort"
	"time"
)

// longest is the longest age that is estimated, and how long what was seen counts.
const longest = 24 * time.Hour

// ages are those for which the memory is estimated, ascending: whole seconds up to a day, about a fifth apart.
var ages = func() (all []time.Duration) {
	const steps = 4 // until it doubles
	for seconds := 1.; seconds < longest.Seconds(); {
		all = append(all, time.Duration(seconds)*time.Second)
		seconds = max(seconds+1, math.Round(seconds*math.Pow(2, 1./steps)))
	}
	return append(all, longest)
}()

// ageIndex is that of the shortest age that is no shorter; len(ages) if none is.
func ageIndex(age time.Duration) int {
	return sort.Search(len(ages), func(i int) bool { return ages[i] >= age })
}
