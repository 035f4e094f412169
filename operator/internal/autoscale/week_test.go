package autoscale

import (
	"flag"
	"math"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

var update = flag.Bool("update", false, "draw the picture of docs/sizing.md again")

// week is a simulated week: clients use more data by day than by night, and less at the weekend. From Thursday morning
// on, they use 50% more data.
type week struct {
	has, needed, evicted, aim []float64 // for each quarter of an hour
}

// TestThePictureOfAWeekIsThatOfADecisionPerMinute draws the picture in docs/sizing.md.
func TestThePictureOfAWeekIsThatOfADecisionPerMinute(t *testing.T) {
	c := &cache{in: Input{
		Policy: Policy{Acts: true, Min: gib / 4, Max: 4 * gib, Age: time.Hour, Cooldown: 10 * time.Minute},
		State:  State{Memory: gib / 4}, Now: now,
	}}
	var drawn week
	for minute := range 7 * 24 * 60 {
		l, busiest := loadAt(minute), load{}
		for earlier := max(0, minute-24*60); earlier <= minute; earlier += 15 {
			if before := loadAt(earlier); before.all > busiest.all {
				busiest = before
			}
		}
		c.decide(t, time.Minute, l, busiest)
		if minute%15 == 0 {
			drawn.add(c.in, l)
		}
	}
	memory := report.Panel{Title: "memory, MiB", Most: 1600, Curves: []report.Curve{
		{Name: "each Pod has", Values: drawn.has}, {Name: "needed now", Values: drawn.needed},
	}}
	age := report.Panel{Title: "age of evicted items, min", Most: 180, Curves: []report.Curve{
		{Name: "evicted", Values: drawn.evicted}, {Name: "aim", Values: drawn.aim},
	}}
	week := report.Axis{Marks: []report.Mark{{Text: "Monday"}}, Ends: "Sunday"}
	svg := report.Picture("A week of a cache that follows its use", week, memory, age)
	page.Golden(t, "../../../docs/images/autoscaling-week.svg", svg, *update)
}

// loadAt returns the load of clients in a minute of the week.
func loadAt(minute int) load {
	day, hour := minute/(24*60), float64(minute%(24*60))/60
	swing := 0.65 - 0.35*math.Cos(2*math.Pi*(hour-3)/24) // the least at three in the morning
	if day >= 5 {
		swing *= 0.6
	}
	if minute >= 3*24*60+9*60 {
		swing *= 1.5
	}
	return load{all: swing * 1.6 * float64(gib), half: 3600, haste: 1}
}

func (w *week) add(in Input, l load) {
	w.has = append(w.has, float64(in.State.Memory)/mebibyte)
	w.needed = append(w.needed, math.Round(l.used(in.Policy.Age.Seconds())/mebibyte))
	age := math.NaN() // nothing is evicted
	if float64(in.State.Memory) < l.all {
		age = math.Round(l.ageOf(float64(in.State.Memory)) / 60)
	}
	w.evicted, w.aim = append(w.evicted, age), append(w.aim, in.Policy.Age.Minutes())
}
