package screen

// The screen of the hit ratios with other amounts of memory.

import (
	"fmt"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/estimate"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/traffic"
)

// Estimate is the prediction for a server, or why there is none.
type Estimate struct {
	reach.Server
	Estimate Prediction `json:"estimate"`

	Error string `json:"error,omitempty"`
}

// Prediction has predicted hit ratios, and the observations that they are computed from.
type Prediction struct {
	traffic.Seen

	Predictions []estimate.Prediction `json:"predictions"`

	// Reads is how many reads were in the log. Requested is how many reads memcached had in that time.
	Reads     int   `json:"reads"`
	Requested int64 `json:"requested"`

	// Full: items were evicted in that time.
	Full bool `json:"full"`
}

// fewReads is the share of reads in the log below which a prediction is unreliable.
const fewReads = 0.9

// Estimates prints predictions, a column for each multiple of the memory.
func (s Screen) Estimates(estimates []Estimate, memories []float64) error {
	columns := []string{"Slot", "Pod"}
	for _, memory := range memories {
		columns = append(columns, fmt.Sprintf("Hits At %gx", memory))
	}
	var rows [][]string
	for _, e := range estimates {
		row := []string{e.Slot, e.Pod}
		for i := range memories {
			cell := ""
			if i < len(e.Estimate.Predictions) {
				cell = predicted(e.Estimate.Predictions[i])
			}
			row = append(row, cell)
		}
		last := []string{fmt.Sprint(e.Estimate.Reads), yesNo(e.Estimate.Full)}
		if e.Error != "" {
			last = []string{"", ""}
		}
		rows = append(rows, append(row, last...))
	}
	if err := s.table(append(columns, "Reads", "Evicts"), rows, false); err != nil {
		return err
	}
	for _, e := range estimates {
		s.unreached(e.Server, e.Error)
		s.Ended(e.Server, e.Estimate.Seen)
		if all := e.Estimate.Requested; float64(e.Estimate.Reads) < fewReads*float64(all) {
			fmt.Fprintf(s, "\nPod %s: the log has %d of %d reads, so the estimate is uncertain:\n  memcached skipped "+
				"lines, or the limit --lines was reached.\n", e.Pod, e.Estimate.Reads, all)
		}
	}
	return nil
}

func predicted(p estimate.Prediction) string {
	if p.Extrapolated {
		return "~" + Percent(&p.HitRatio)
	}
	return Percent(&p.HitRatio)
}
