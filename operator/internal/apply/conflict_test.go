package apply

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

func TestAChildIsLeftAloneAfterThreeWritesForOneWish(t *testing.T) {
	now := time.Unix(0, 0)
	c := newConflicts()
	c.now = func() time.Time { return now }
	for range writesBeforePause {
		if wait := c.wait("child", "wish"); wait != 0 {
			t.Fatalf("left alone for %s before its time", wait)
		}
		c.note("child", "wish")
		now = now.Add(time.Minute)
	}
	if got, want := c.wait("child", "wish"), 5*time.Minute; got != want {
		t.Errorf("left alone for %s, want %s", got, want)
	}
	if wait := c.wait("other", "wish"); wait != 0 {
		t.Errorf("another child is left alone for %s", wait)
	}
	if wait := c.wait("child", "another"); wait != 0 {
		t.Errorf("a new wish has to wait for %s", wait)
	}
	now = now.Add(5 * time.Minute)
	if wait := c.wait("child", "wish"); wait != 0 {
		t.Errorf("it is left alone for %s after the pause", wait)
	}
	c.note("other", "wish")
	now = now.Add(2 * pace.Longest)
	c.note("third", "wish")
	if len(c.byObject) != 1 {
		t.Errorf("%d children are remembered, want the last one", len(c.byObject))
	}
}

func TestWhatWasWrittenBeforeIsKnown(t *testing.T) {
	c := newConflicts()
	c.note("child", "wish")
	if !c.knows("child", "wish") || c.knows("child", "another") || c.knows("other", "wish") {
		t.Error("known is not just the child that was written, with its wish")
	}
}

func TestWhoDidItIsKnownUntilTheNextWriteOrAnotherChange(t *testing.T) {
	c := newConflicts()
	c.note("child", "wish")
	c.explain("child", ".spec.replicas", []drift.Drift{{Field: ".spec.replicas"}})
	if c.explained("child", ".spec.replicas") == nil {
		t.Error("it is asked for again")
	}
	if c.explained("child", ".spec.paused") != nil || c.explained("other", ".spec.replicas") != nil {
		t.Error("somebody is blamed for another change")
	}
	c.note("child", "wish")
	if c.explained("child", ".spec.replicas") != nil {
		t.Error("somebody is blamed for what was put right since")
	}
}
