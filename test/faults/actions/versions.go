package actions

import (
	"context"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// operators are operators that are started instead of the regular operator, or in addition to it.
type operators struct {
	Next          bool   `json:"next,omitempty"`       // a release with one more revision of the Pod template
	LaterImage    bool   `json:"laterImage,omitempty"` // the default image of memcached is a later one
	LaterAgent    bool   `json:"laterAgent,omitempty"`
	Architectures string `json:"architectures"`

	Count int             `json:"count,omitempty"` // how many run in addition to the regular operator
	For   metav1.Duration `json:"for,omitzero"`
}

// upgradeAtWrite replaces the regular operator at one of its writes.
type upgradeAtWrite struct {
	moment
	operators
}

const (
	longestOthers = 20 * time.Second // the faults may end earlier
	mostOthers    = 2
)

func operatorVersions() []Action {
	return []Action{
		{plan.Action{Name: "another version takes the operator's place", Weight: 4, Draw: drawVersion}, given(upgrade)},
		{plan.Action{Name: "another version takes the operator's place at a write", Weight: 3, Draw: func(r *rand.Rand) any {
			// The write is one of the first three, because the operator records a change in two objects.
			return upgradeAtWrite{moment{1 + r.IntN(3), one(r, Moments...)}, drawVersion(r).(operators)}
		}}, given(upgradeAt)},
		{plan.Action{Name: "other operators run at the same time", Weight: 4, Draw: func(r *rand.Rand) any {
			others := drawVersion(r).(operators)
			if r.IntN(2) == 0 { // the same version, like a leader that has not noticed that it lost its Lease
				others = operators{}
			}
			others.Count, others.For = 1+r.IntN(mostOthers), upTo(r, longestOthers)
			return others
		}}, given(runOthers)},
	}
}

func drawVersion(r *rand.Rand) any {
	return operators{
		Next: r.IntN(2) == 0, LaterImage: r.IntN(2) == 0, LaterAgent: r.IntN(2) == 0,
		Architectures: []string{"", "amd64,arm64", "amd64,arm64,s390x"}[r.IntN(3)],
	}
}

func (o operators) launch(w *world.World) func(*world.Launch) {
	return func(launch *world.Launch) {
		launch.Program = w.Programs.Operator
		if o.Next {
			launch.Program = w.Programs.Next
		}
		defaults := world.Defaults{Image: w.Images.Memcached, Agent: w.Images.Agent, Architectures: o.Architectures}
		if o.LaterImage {
			defaults.Image = w.Images.LaterMemcached
		}
		if o.LaterAgent {
			defaults.Agent = w.Images.LaterAgent
		}
		launch.Defaults = defaults
	}
}

// upgrade replaces the regular operator by another version, which may be older. When the faults end, the defaults stay,
// but the version is the regular one again.
func upgrade(ctx context.Context, w *world.World, _ plan.Step, to operators) error {
	world.HadEffect(ctx)
	return w.Upgrade(to.launch(w))
}

// upgradeAt waits for the write in the background, because the next steps may cause this write.
func upgradeAt(ctx context.Context, w *world.World, _ plan.Step, at upgradeAtWrite) error {
	injectAtWrite(ctx, w, at.moment, func(<-chan struct{}) bool {
		if err := w.Upgrade(at.launch(w)); err != nil {
			w.Fail(err)
		}
		return false
	})
	return nil
}

// runOthers starts operators that act as leaders, as the regular one does.
func runOthers(ctx context.Context, w *world.World, _ plan.Step, others operators) error {
	world.HadEffect(ctx)
	for range others.Count {
		operator, err := w.StartAnother(others.launch(w))
		if err != nil {
			return err
		}
		w.During(others.For.Duration, func() { w.Remove(operator) })
	}
	return nil
}
