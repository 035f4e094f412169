//go:build e2e

package commands

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSlabsAndSizesShowTheItemsOfServers(t *testing.T) {
	c := secured(t, 2)
	var sets bytes.Buffer
	for n := range 100 {
		fmt.Fprintf(&sets, "set key-%d 0 0 1000\r\n%s\r\n", n, strings.Repeat("x", 1000))
	}
	c.send(1, sets.String(), 100)
	out := c.prints([]string{c.pods[1].Name, "1184", "100"}, "slabs", "shop")
	if strings.Contains(out, c.pods[0].Name) {
		t.Errorf("a server without items has a class:\n%s", out)
	}
	c.prints([]string{"1184      100     100.0%", strings.Repeat("#", 20)}, "sizes", "shop")
	c.prints([]string{`"atMostBytes": 1184`, `"kind": "CacheSizes"`}, "sizes", "shop", "-o", "json")
	c.prints([]string{`"chunkBytes": 1184`, `"kind": "CacheSlabs"`}, "slabs", "shop", "-o", "json")
}

func TestSlabsAndSizesOfAnEmptyCacheSaySo(t *testing.T) {
	c := secured(t, 1)
	for _, command := range []string{"slabs", "sizes"} {
		c.prints([]string{"No server that answered has items.\n"}, command, "shop")
	}
	c.prints([]string{`"classes": []`}, "slabs", "shop", "-o", "json")
	c.prints([]string{`"items": []`}, "sizes", "shop", "-o", "json")
}

// requests repeats these requests to a server, until one fails or the test calls stop.
func (c *cache) requests(server int, requests ...string) (stop func()) {
	c.t.Helper()
	client, ctx := c.client(server), c.t.Context()
	stopped, stopping := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, request := range requests {
				if _, err := client.Ask(ctx, request+"\r\n"); err != nil {
					return
				}
			}
			select {
			case <-stopping:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() { close(stopping); <-stopped }
}

// TestWhatWasReadOfALogIsKept checks that the command shows what it read of a log before the Pod ended, or before the
// user interrupted the command.
func TestWhatWasReadOfALogIsKept(t *testing.T) {
	for _, command := range []string{"hot-keys", "estimate"} {
		t.Run(command, func(t *testing.T) {
			c := secured(t, 2)
			c.send(1, "set hot 0 0 1\r\nx\r\n", 1)
			defer c.requests(1, "mg hot s")()
			time.AfterFunc(time.Second, func() { c.servers[1].Signal(t, 9) })
			out := c.prints([]string{"Pod " + c.pods[1].Name + ": the log was read for ", " only: "}, command, "shop", "--for=3s")
			if !strings.Contains(out, "100.0%") {
				t.Errorf("nothing of the Pod that ended is shown:\n%s", out)
			}
			c.send(0, "set cold 0 0 1\r\nx\r\n", 1)
			defer c.requests(0, "mg cold s")()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.ctx = ctx
			time.AfterFunc(2*time.Second, cancel)
			out = c.prints([]string{"Pod " + c.pods[0].Name + ": the log was read for ", " only: interrupted"},
				command, "shop", "--for=1m")
			if !strings.Contains(out, "100.0%") {
				t.Errorf("nothing of before the interrupt is shown:\n%s", out)
			}
		})
	}
}

func TestHotKeysShowsTheKeysThatAreReadMost(t *testing.T) {
	c := secured(t, 2)
	stop, stopped := make(chan struct{}), make(chan struct{})
	c.send(0, "set hot 0 0 6\r\nsecret\r\n", 1)
	go func() {
		defer close(stopped)
		client := c.client(0)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			for _, request := range []string{"mg hot s", "mg hot s", "mg cold s", "ms stored 1\r\nx", "ms stored 1\r\nx"} {
				if answer, err := client.Ask(t.Context(), request+"\r\n"); err != nil {
					t.Error(answer, err)
					return
				}
			}
		}
	}()
	out := c.prints([]string{"CPU time", "lines of the log were read, and 0 skipped"}, "hot-keys", "shop", "--for=1s")
	close(stop)
	<-stopped
	lines := strings.Split(out, "\n")
	if !strings.HasPrefix(lines[3], "hot    shop-0") || !strings.HasPrefix(lines[4], "cold   shop-0") ||
		!strings.Contains(lines[3], "100.0%") || strings.Contains(out, "secret") || strings.Contains(out, "stored") {
		t.Errorf("the order is another, or a value is shown:\n%s", out)
	}
	c.prints([]string{`"kind": "HotKeyList"`}, "hot-keys", "shop", "--for=100ms", "-o", "json")
	for arguments, want := range map[string]string{
		"--for=0s": "--for 0s is out of range", "--lines=0": "--lines 0 reads nothing", "--top=0": "--top 0 shows nothing",
	} {
		if _, err := c.run("", "hot-keys", "shop", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", arguments, err, want)
		}
	}
}
