package apply

import (
	"testing"
	"time"
)

func TestAChildIsLeftAloneAfterThreeWritesForOneWish(t *testing.T) {
	now := time.Unix(0, 0)
	c := newContests()
	c.now = func() time.Time { return now }
	for range contestWrites {
		if wait := c.wait("child", "wish"); wait != 0 {
			t.Fatalf("left alone for %s before its time", wait)
		}
		c.note("child", "wish")
		now = now.Add(time.Minute)
	}
	if got, want := c.wait("child", "wish"), 7*time.Minute; got != want {
		t.Errorf("left alone for %s, want %s", got, want)
	}
	if wait := c.wait("other", "wish"); wait != 0 {
		t.Errorf("another child is left alone for %s", wait)
	}
	if wait := c.wait("child", "another"); wait != 0 {
		t.Errorf("a new wish has to wait for %s", wait)
	}
	now = now.Add(7 * time.Minute)
	if wait := c.wait("child", "wish"); wait != 0 {
		t.Errorf("it is left alone for %s after the first write has become old", wait)
	}
	c.note("other", "wish")
	now = now.Add(time.Hour)
	c.note("third", "wish")
	if len(c.writes) != 1 {
		t.Errorf("%d children are remembered, want the last one", len(c.writes))
	}
}
