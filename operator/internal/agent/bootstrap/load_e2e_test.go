//go:build e2e

package bootstrap

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/clienthash"
)

// The figures of docs/moving-in.md were measured with -keys 2100000 -rate 16777216.
var (
	loadKeys = flag.Int("keys", 60_000, "keys of 1,000 bytes that a cache is filled with under load")
	loadRate = flag.Int64("rate", 0, "limit of that copy in bytes per second")
)

// writesPerSecond is the rate at which clients write to the old servers.
const writesPerSecond = 2000

// line is a connection on which many commands are sent before an answer is read.
type line struct{ *bufio.ReadWriter }

func (s *servers) lines(t *testing.T) (lines []line) {
	t.Helper()
	for _, name := range s.names {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		lines = append(lines, line{bufio.NewReadWriter(bufio.NewReader(connection), bufio.NewWriter(connection))})
	}
	return lines
}

// end waits until all commands are done. It returns the number of commands that had an answer.
func (l line) end() (answers int, err error) {
	if _, err := l.WriteString("mn\r\n"); err != nil {
		return 0, err
	}
	if err := l.Flush(); err != nil {
		return 0, err
	}
	for ; ; answers++ {
		answer, err := l.ReadString('\n')
		if err != nil || answer == "MN\r\n" {
			return answers, err
		}
	}
}

// send sends a command for each key to the server that has it, and returns how many were answered.
func (s *servers) send(t *testing.T, keys int, command func(key string) string) (answers int) {
	t.Helper()
	lines := s.lines(t)
	for n := range keys {
		key := fmt.Sprintf("untouched-%d", n)
		_, _ = lines[s.choose([]byte(key))].WriteString(command(key)) // If this fails, the next Flush does.
		if n%10_000 == 0 || n == keys-1 {
			for _, line := range lines {
				answered, err := line.end()
				if err != nil {
					t.Fatal(err)
				}
				answers += answered
			}
		}
	}
	return answers
}

// TestACacheIsFilledUnderLoad checks that at least 99 % of the keys that clients do not touch are copied, while clients
// write other keys.
func TestACacheIsFilledUnderLoad(t *testing.T) {
	old := startServers(t, clienthash.Ketama, 3, &security{}, "--memory-limit=1024")
	next := startServers(t, clienthash.Rendezvous, 3, &security{}, slots, "--memory-limit=1024")
	value := strings.Repeat("v", 1000)
	old.send(t, *loadKeys, func(key string) string { return fmt.Sprintf("ms %s %d q\r\n%s\r\n", key, len(value), value) })
	var writing sync.WaitGroup
	stop := make(chan struct{})
	lines := old.lines(t)
	writing.Go(func() { old.writeUntil(t, lines, stop) })
	t.Cleanup(sync.OnceFunc(func() { close(stop); writing.Wait() }))

	p := newProgram(t, old, next)
	p.BytesPerSecond = *loadRate
	began := time.Now()
	p.start(t)
	gomega.NewWithT(t).Eventually(func() int {
		code, _ := p.get(p.ProbeAddress + "/started")
		return code
	}).WithTimeout(10 * time.Minute).Should(gomega.Equal(200))
	copied := time.Since(began)
	p.instruct(t, "cutOver")
	began = time.Now()
	p.becomes(t, "/ready")
	cutOver := time.Since(began)
	kept := next.send(t, *loadKeys, func(key string) string { return "mg " + key + " s q\r\n" }) // Misses are silent.
	t.Attr("copy-seconds", fmt.Sprint(copied.Seconds()))                                         // make bench reads these.
	t.Attr("cutover-seconds", fmt.Sprint(cutOver.Seconds()))
	t.Attr("kept-percent", fmt.Sprint(100*float64(kept)/float64(*loadKeys)))
	if kept < *loadKeys*99/100 {
		t.Errorf("%d of %d keys are missing", *loadKeys-kept, *loadKeys)
	}
}

// writeUntil writes keys to the old servers until stop is closed.
func (s *servers) writeUntil(t *testing.T, lines []line, stop <-chan struct{}) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; {
		for range writesPerSecond / 100 {
			key := fmt.Sprintf("written-%d", n%20_000)
			_, _ = fmt.Fprintf(lines[s.choose([]byte(key))], "ms %s 10 q\r\n%010d\r\n", key, n)
			n++
		}
		for _, line := range lines {
			if _, err := line.end(); err != nil {
				t.Error(err)
				return
			}
		}
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
	}
}
