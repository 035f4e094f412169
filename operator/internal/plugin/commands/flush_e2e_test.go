//go:build e2e

package commands

import (
	"strings"
	"testing"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestFlushRemovesWhatItShowsAfterAQuestion(t *testing.T) {
	c := secured(t, 2)
	c.mc.Spec.Slots.ClientHash = ""
	has := func(server int, want string) {
		t.Helper()
		answer, err := c.client(server).Ask(t.Context(), "mg a s\r\n")
		if err != nil || answer != want {
			t.Errorf("server %d: got %q, %v", server, answer, err)
		}
	}
	for server := range 2 {
		c.send(server, "set a 0 0 1\r\nx\r\n", 1)
	}
	c.prints([]string{"shop-0   " + c.pods[0].Name + "   1 ", "2 keys with", "would be removed (dry run)"}, "flush", "shop", "--dry-run")
	out, err := c.run("n\n", "flush", "shop")
	if err == nil || !strings.Contains(out, "All keys of 2 servers of team/shop will be removed. Continue? [y/N]") {
		t.Errorf("got %v\n%s", err, out)
	}
	has(0, "HD s1")
	has(1, "HD s1")
	c.prints([]string{"pod/" + c.pods[1].Name + " flushed"}, "flush", "shop", "--slot=shop-1", "--yes")
	has(0, "HD s1")
	has(1, "EN")
	c.mc.Status.Slots[1].State = cachev1.SlotCopying
	out, err = c.run("y\n", "flush", "shop")
	if err != nil || !strings.Contains(out, "flush again afterwards. Continue?") {
		t.Errorf("got %v\n%s", err, out)
	}
	has(0, "EN")
	if _, err := c.run("", "flush", "shop", "--slot=shop-7"); err == nil ||
		!strings.Contains(err.Error(), `--slot "shop-7" has no running Pod: name one of ["shop-0" "shop-1"]`) {
		t.Errorf("got %v", err)
	}
	c.mc.Status.Slots = nil
	if _, err := c.run("", "flush", "shop", "--slot=shop-0"); err == nil ||
		!strings.Contains(err.Error(), `--slot "shop-0": Memcached team/shop has no slots, leave --slot out`) {
		t.Errorf("got %v", err)
	}
}

func TestAFlushThatMemcachedDoesNotAllowIsAnError(t *testing.T) {
	c := secured(t, 1, "--disable-flush-all")
	if _, err := c.run("", "flush", "shop", "--yes"); err == nil || !strings.Contains(err.Error(), "spec.extraArgs has -F") {
		t.Errorf("got %v", err)
	}
}
