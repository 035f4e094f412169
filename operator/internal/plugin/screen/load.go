package screen

// The screen of the load of servers.

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// Load is the load of a server, or why it is unknown.
type Load struct {
	reach.Server
	load.Load

	Error string `json:"error,omitempty"`
}

// clearTerminal moves the cursor of a terminal to the first character, and clears the screen.
const clearTerminal = "\x1b[H\x1b[2J"

// Clear clears a terminal. If the output is no terminal, it prints an empty line.
func (s Screen) Clear() {
	if s.Terminal {
		fmt.Fprint(s, clearTerminal)
	} else {
		fmt.Fprintln(s)
	}
}

// Loads prints the load of servers and, if there are several, the load of all together. The total is without
// terminating Pods that have no slot: their memory is about to be freed, and other Pods have their keys.
func (s Screen) Loads(loads []Load) error {
	var rows [][]string
	var known []load.Load
	for _, l := range loads {
		if l.Error != "" {
			rows = append(rows, append([]string{l.Slot, l.Pod, unknown}, make([]string, len(loadColumns)-3)...))
			continue
		}
		rows = append(rows, append([]string{l.Slot, l.Pod}, loadCells(l.Load)...))
		if l.Slot != "" || !l.Terminating {
			known = append(known, l.Load)
		}
	}
	if len(known) > 1 {
		rows = append(rows, append([]string{"", "all"}, loadCells(load.Total(known))...))
	}
	if err := s.table(loadColumns, rows, false); err != nil {
		return err
	}
	for _, l := range loads {
		s.unreached(l.Server, l.Error)
	}
	return nil
}

var loadColumns = []string{
	"Slot", "Pod", "Memory", "Used", "Items", "Hits", "Hits Since Start", "Requests/s", "Evictions/s", "Evicted Age",
	"Connections",
}

func loadCells(l load.Load) []string {
	used := ""
	if l.Limit > 0 {
		used = Percent(new(float64(l.Used) / float64(l.Limit)))
	}
	age := ""
	if l.EvictedAge != nil {
		age = duration.HumanDuration(time.Duration(*l.EvictedAge) * time.Second)
	}
	return []string{
		Size(l.Limit), used, strconv.FormatInt(l.Items, 10), Percent(l.HitRatio), Percent(l.TotalHitRatio),
		Rate(l.Requests), Rate(l.Evictions), age, strconv.FormatInt(l.Connections, 10),
	}
}

// Percent returns a ratio in percent; empty if it is not known.
func Percent(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return fmt.Sprintf("%.1f%%", *ratio*100)
}

// Rate returns a number for each second; empty if it is not known.
func Rate(perSecond *float64) string {
	if perSecond == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", *perSecond)
}

// Size returns a size in the units of Kubernetes.
func Size(n int64) string {
	const unit = 1024
	value, units := float64(n), []string{"", "Ki", "Mi", "Gi", "Ti"}
	for value >= 10*unit && len(units) > 1 {
		value, units = value/unit, units[1:]
	}
	return fmt.Sprintf("%.0f%s", value, units[0])
}
