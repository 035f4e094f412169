package screen

// The screens of slab classes, sizes of items, and keys that are read most.

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/hot"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/slabs"
)

// Slabs are the slab classes of a server, or why they are unknown.
type Slabs struct {
	reach.Server

	Classes []slabs.Class `json:"classes"`
	Error   string        `json:"error,omitempty"`
}

// Slabs prints the slab classes of servers.
func (s Screen) Slabs(servers []Slabs) error {
	var rows [][]string
	for _, server := range servers {
		for _, c := range server.Classes {
			rows = append(rows, []string{
				server.Slot, server.Pod, fmt.Sprint(c.Number), fmt.Sprint(c.ChunkSize), fmt.Sprint(c.Pages),
				share(c.Used, c.Chunks), fmt.Sprint(c.Items), share(c.Requested, c.Used*c.ChunkSize), seconds(c.Age),
				fmt.Sprint(c.Evicted), evictedAge(c), fmt.Sprint(c.OutOfMemory),
			})
		}
	}
	columns := []string{
		"Slot", "Pod", "Class", "Chunk Size", "Pages", "Used", "Items", "Filled", "Age", "Evicted", "Evicted Age",
		"Out Of Memory",
	}
	return s.itemTable(columns, rows, servers)
}

// itemTable prints a table about items, or that there are no items.
func (s Screen) itemTable(columns []string, rows [][]string, servers []Slabs) error {
	if len(rows) == 0 {
		fmt.Fprintln(s, "No server that answered has items.")
	} else if err := s.table(columns, rows, false); err != nil {
		return err
	}
	for _, server := range servers {
		s.unreached(server.Server, server.Error)
	}
	return nil
}

func evictedAge(c slabs.Class) string {
	if c.Evicted == 0 {
		return ""
	}
	return seconds(c.EvictedAge)
}

func seconds(n int64) string { return duration.HumanDuration(time.Duration(n) * time.Second) }

func share(part, whole int64) string {
	if whole == 0 {
		return ""
	}
	return Percent(new(float64(part) / float64(whole)))
}

// Sizes prints a histogram.
func (s Screen) Sizes(buckets []slabs.Bucket, servers []Slabs) error {
	var all, most int64
	for _, bucket := range buckets {
		all, most = all+bucket.Items, max(most, bucket.Items)
	}
	var rows [][]string
	for _, bucket := range buckets {
		rows = append(rows, []string{
			fmt.Sprint(bucket.AtMost), fmt.Sprint(bucket.Items), share(bucket.Items, all), Size(bucket.Bytes),
			strings.Repeat("#", int((bucket.Items*barWidth+most-1)/most)),
		})
	}
	return s.itemTable([]string{"At Most", "Items", "Share", "Bytes", "Histogram"}, rows, servers)
}

// HotKeys prints keys, never values. A key may have bytes that control a terminal.
func (s Screen) HotKeys(keys []hot.Key) error {
	var rows [][]string
	for _, key := range keys {
		rows = append(rows, []string{
			printable(key.Key), key.Slot, key.Pod, Rate(&key.Rate), Percent(&key.Share), Percent(&key.HitRatio),
			fmt.Sprint(key.Size),
		})
	}
	return s.table([]string{"Key", "Slot", "Pod", "Reads/s", "Share", "Hits", "Size"}, rows, false)
}
