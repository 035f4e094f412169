package apply

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

func TestAfterThreeWritesOfTheSameStateTheOperatorPauses(t *testing.T) {
	now := time.Unix(0, 0)
	c := newConflicts()
	c.now = func() time.Time { return now }
	for range writesBeforePause {
		if wait := c.wait("object", "state"); wait != 0 {
			t.Fatalf("left alone for %s before its time", wait)
		}
		c.note("object", "state")
		now = now.Add(time.Minute)
	}
	if got, want := c.wait("object", "state"), 5*time.Minute; got != want {
		t.Errorf("left alone for %s, want %s", got, want)
	}
	if wait := c.wait("other", "state"); wait != 0 {
		t.Errorf("another object is left alone for %s", wait)
	}
	if wait := c.wait("object", "another"); wait != 0 {
		t.Errorf("a new desired state has to wait for %s", wait)
	}
	now = now.Add(5 * time.Minute)
	if wait := c.wait("object", "state"); wait != 0 {
		t.Errorf("it is left alone for %s after the pause", wait)
	}
	c.note("other", "state")
	now = now.Add(2 * pace.Longest)
	c.note("third", "state")
	if len(c.byObject) != 1 {
		t.Errorf("%d objects are remembered, want the last one", len(c.byObject))
	}
}

func TestWhatWasWrittenBeforeIsKnown(t *testing.T) {
	c := newConflicts()
	c.note("object", "state")
	if !c.knows("object", "state") || c.knows("object", "another") || c.knows("other", "state") {
		t.Error("known is more than the object that was written, with its desired state")
	}
}

func TestTheManagerIsKnownUntilTheNextWriteOrAnotherChange(t *testing.T) {
	c := newConflicts()
	c.note("object", "state")
	c.explain("object", ".spec.replicas", []drift.Drift{{Field: ".spec.replicas"}})
	if c.explained("object", ".spec.replicas") == nil {
		t.Error("it is requested again")
	}
	if c.explained("object", ".spec.paused") != nil || c.explained("other", ".spec.replicas") != nil {
		t.Error("a manager is blamed for another change")
	}
	c.note("object", "state")
	if c.explained("object", ".spec.replicas") != nil {
		t.Error("a manager is blamed for drift that was reverted")
	}
}
