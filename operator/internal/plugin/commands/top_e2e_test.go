//go:build e2e

package commands

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestTopShowsTheLoadOfEachServer(t *testing.T) {
	c := secured(t, 2)
	c.send(0, "set a 0 0 1\r\nx\r\nget a\r\nget b\r\n", 5)
	out := c.prints([]string{"shop-0   " + c.pods[0].Name, "64Mi", "50.0%", "shop-1   " + c.pods[1].Name, "all"}, "top", "shop")
	if !regexp.MustCompile(`(?m)^- +all +128Mi +0.0% +1 +- +50.0% +0 +0 +- +`).MatchString(out) {
		t.Errorf("the row of all is another:\n%s", out)
	}
	c.servers[1].Signal(t, 9)
	<-c.servers[1].Ended()
	var list struct {
		Kind  string
		Items []struct {
			Slot, Error   string
			LimitBytes    int
			TotalHitRatio *float64
		}
	}
	if err := json.Unmarshal([]byte(c.prints(nil, "top", "shop", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	if list.Kind != "CacheLoad" || list.Items[0].LimitBytes != 64<<20 || *list.Items[0].TotalHitRatio != 0.5 ||
		!strings.Contains(list.Items[1].Error, "connection refused") {
		t.Errorf("got %+v", list)
	}
	for arguments, want := range map[string]string{
		"--interval=10ms":  "--interval 10ms is too short",
		"--watch -o=json":  "exclude each other",
		"--output=columns": `"columns" for "-o, --output" flag: write one of json, yaml`,
	} {
		if _, err := c.run("", append([]string{"top", "shop"}, strings.Fields(arguments)...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", arguments, err, want)
		}
	}
}

func TestTopWatchesWhileTheAPIServerRestarts(t *testing.T) {
	c := secured(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.ctx = ctx
	time.AfterFunc(500*time.Millisecond, func() { c.broken.Store(true) })
	time.AfterFunc(5*time.Second, cancel)
	out := c.prints([]string{"The list of Pods could not be read, so the previous list is used until the next interval: "}, "top", "shop", "--watch")
	if rounds := strings.Count(out, "shop-0   "); rounds < 3 {
		t.Errorf("%d rounds:\n%s", rounds, out)
	}
	c.ctx = t.Context()
	c.broken.Store(false)
	time.AfterFunc(500*time.Millisecond, func() { c.gone.Store(true) })
	if _, err := c.run("", "top", "shop", "--watch"); err == nil || !strings.Contains(err.Error(), `has no Memcached "shop"`) {
		t.Errorf("a deleted cache is watched: %v", err)
	}
}

func TestTopWatchesServersOverTheSameConnections(t *testing.T) {
	c := secured(t, 2)
	c.send(0, "set a 0 0 1\r\nx\r\nget a\r\n", 4)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.ctx = ctx
	time.AfterFunc(4*time.Second, cancel)
	out := c.prints(nil, "top", "shop", "--watch")
	if rounds := strings.Count(out, "all "); rounds < 2 || len(c.dialed) != 2 {
		t.Errorf("%d rounds over %d connections:\n%s", rounds, len(c.dialed), out)
	}
}
