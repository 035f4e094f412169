package protocol

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReadStats reads any text that a memcached may answer. If it can be read as statistics, these are written and read
// again, and must be the same.
func FuzzReadStats(f *testing.F) {
	f.Add("STAT pid 1\r\nSTAT version 1.6.45\r\nEND\r\n")
	f.Add("STAT items:1:number 5\nEND\n")
	f.Add("CLIENT_ERROR unauthenticated\r\n")
	f.Add("STAT  \r\nEND\r\n")
	f.Fuzz(func(t *testing.T, answer string) {
		stats, err := readStats(newReader(strings.NewReader(answer)))
		if err != nil {
			return
		}
		var again strings.Builder
		for _, name := range slices.Sorted(maps.Keys(stats)) {
			fmt.Fprintf(&again, "STAT %s %s\r\n", name, stats[name])
		}
		again.WriteString("END\r\n")
		got, err := readStats(bufio.NewReaderSize(strings.NewReader(again.String()), 2*maxLine))
		if diff := cmp.Diff(stats, got); err != nil || diff != "" {
			t.Errorf("%v (-first +again):\n%s", err, diff)
		}
	})
}
