package watch

// Computes how much memory an item takes, in the pages of its slab class.

import (
	"strconv"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/usage/curve"
)

// page is how much memory memcached takes for a slab class at a time.
const page = 1 << 20

// layout describes how memcached splits its memory into pages, each with chunks of one size.
type layout struct {
	chunks  map[int]float64 // bytes of a page that each chunk takes, by class
	sizes   map[int]int     // bytes of a chunk, by class
	classes int             // number of classes that have a page
}

func newLayout(slabs map[string]string) layout {
	l := layout{chunks: map[int]float64{}, sizes: map[int]int{}}
	for name, stats := range exporter.ByClass(slabs, "") {
		class, _ := strconv.Atoi(name)
		each, _ := strconv.Atoi(stats["chunks_per_page"])
		size, _ := strconv.Atoi(stats["chunk_size"])
		if class == 0 || each <= 0 || size <= 0 {
			continue
		}
		l.chunks[class], l.sizes[class] = page/float64(each), size
		if pages, _ := strconv.Atoi(stats["total_pages"]); pages > 0 {
			l.classes++
		}
	}
	return l
}

// bytes returns how much memory an item takes. A large item has several chunks of the largest class, and a smaller
// chunk for the rest.
func (l layout) bytes(i curve.Item) float64 {
	size, ok := l.sizes[i.Class]
	switch {
	case !ok:
		return float64(i.Size)
	case i.Size <= size:
		return l.chunks[i.Class]
	}
	return float64(i.Size/size)*l.chunks[i.Class] + float64(i.Size%size)
}

// spare returns how much memory has no items: the free chunks of a class take about one page.
func (l layout) spare() float64 { return float64(l.classes) * page }
