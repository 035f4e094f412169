//go:build e2e

package commands

import (
	"bytes"
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
