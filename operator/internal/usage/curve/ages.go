package curve

// The ages for which the memory is estimated.

import (
	"math"
	"sort"
	"time"
)

// longest is the longest age that is estimated. It is also how long observations count.
const longest = 24 * time.Hour

// ages are the ages for which the memory is estimated, in ascending order: whole seconds up to a day, each about a
// fifth longer than the last.
var ages = func() (all []time.Duration) {
	const steps = 4 // until the age doubles
	for seconds := 1.; seconds < longest.Seconds(); {
		all = append(all, time.Duration(seconds)*time.Second)
		seconds = max(seconds+1, math.Round(seconds*math.Pow(2, 1./steps)))
	}
	return append(all, longest)
}()

// ageIndex returns the index of the shortest of the ages that is not shorter than an age; len(ages) if all are shorter.
func ageIndex(age time.Duration) int {
	return sort.Search(len(ages), func(i int) bool { return ages[i] >= age })
}
