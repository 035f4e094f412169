package scenarios

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"

	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// cost is what a run took. Its CPU time is that of all programs on the machine, because most of it is the API server's.
type cost struct{ seconds, cpu float64 }

// comparison has the costs of runs of the operator and of runs of the baseline. The runs alternate.
type comparison struct{ operator, baseline []cost }

func (c *comparison) add(operator, baseline cost) {
	c.operator, c.baseline = append(c.operator, operator), append(c.baseline, baseline)
}

// figures returns two ratios of the operator to the baseline: of their times, and of their CPU times. Each is the
// median of the ratios of the pairs of runs.
func (c *comparison) figures(name string) []report.Figure {
	ratio, measured := c.compare(func(of cost) float64 { return of.seconds })
	figures := []report.Figure{report.AtMost(1.5, "times", name, ratio, measured)}
	if cpuTime() == 0 {
		return figures
	}
	ratio, measured = c.compare(func(of cost) float64 { return of.cpu })
	return append(figures, report.Unjudged("the same, CPU time of all programs", ratio, "times", measured))
}

func (c *comparison) compare(of func(cost) float64) (ratio float64, measured string) {
	var ratios, operators, baselines []float64
	for run := range c.operator {
		operator, baseline := of(c.operator[run]), of(c.baseline[run])
		operators, baselines = append(operators, operator), append(baselines, baseline)
		ratios = append(ratios, operator/baseline)
	}
	return statistics.Median(ratios), against(operators, baselines, "s")
}

// against returns a text with the medians of two series of times, which have the same unit.
func against(times, others []float64, unit string) string {
	return fmt.Sprintf("%[1]s %[3]s against %[2]s %[3]s",
		report.Number(statistics.Median(times)), report.Number(statistics.Median(others)), unit)
}

// costOf measures the CPU time of a run. The run itself returns how long it took.
func costOf(run func() (time.Duration, error)) (cost, error) {
	before := cpuTime()
	took, err := run()
	return cost{seconds: took.Seconds(), cpu: cpuTime() - before}, err
}

// cpuTime returns the seconds for which the processors of the machine have worked since it started. Only Linux reports
// them; elsewhere they are 0.
func cpuTime() float64 {
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	stat, err := system.Stat()
	if err != nil {
		return 0
	}
	total := stat.CPUTotal
	return total.User + total.Nice + total.System + total.IRQ + total.SoftIRQ
}
