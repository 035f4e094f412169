package rows

import (
	"fmt"

	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// memoryFigures are about a straight line through what the operator held at each size.
func (g *grown) memoryFigures() []report.Figure {
	if len(g.memory) < 3 { // A line through two points is always straight.
		return nil
	}
	heap := g.heapLine()
	figures := []report.Figure{
		report.Tell("requests a new Memcached until its nodes are ready, events apart", g.requests, ""),
		report.Judge("heap a Memcached with its children and Pods", heap.Slope*mebibyte/kibibyte, report.AtMost(25, "KiB"),
			fmt.Sprintf("and %s MiB without any", report.Number(heap.Start))),
		report.Judge("heap, farthest from a straight line", heap.Off*100, report.AtMost(10, "%")),
	}
	for i, size := range g.Sizes {
		figures = append(figures, report.Tell(fmt.Sprintf("%d Memcacheds: heap", size), heapOf(g.memory[i]), "MiB",
			fmt.Sprintf("resident %s MiB", report.Number(residentOf(g.memory[i])))))
	}
	return figures
}

func heapOf(memory lab.Memory) float64     { return memory.Heap / mebibyte }
func residentOf(memory lab.Memory) float64 { return memory.Resident / mebibyte }

// heapLine fits a line to the heap by the number of Memcacheds.
func (g *grown) heapLine() report.Line {
	var sizes, heaps []float64
	for i, memory := range g.memory {
		sizes, heaps = append(sizes, float64(g.Sizes[i])), append(heaps, heapOf(memory))
	}
	return report.Fit(sizes, heaps)
}

func (g *grown) changeFigures() []report.Figure {
	few, many := percentile(g.changes[0], 50), percentile(g.changes[1], 50)
	p99 := fmt.Sprintf("p99 %s ms", report.Number(percentile(g.changes[1], 99)))
	return []report.Figure{
		report.Judge(fmt.Sprintf("one spec change among %d: change to applied, p50", g.size), many,
			report.AtMost(10, "ms"), p99),
		report.Judge(fmt.Sprintf("the same, against one among %d", g.Sizes[0]), many/few, report.AtMost(1.5, "times"),
			fmt.Sprintf("%s ms", report.Number(few))),
	}
}
