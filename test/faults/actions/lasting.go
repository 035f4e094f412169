package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/test/faults/world"
)

// lasting has the common argument of all faults that end by themselves.
type lasting struct {
	For metav1.Duration `json:"for"`
}

// longestFault is the longest duration of a fault that ends by itself.
const longestFault = 4 * time.Second

// drawLasting prefers short faults, because the operator acts within milliseconds.
func drawLasting(r *rand.Rand) lasting {
	scale := time.Duration(5 + r.IntN(96))
	return lasting{metav1.Duration{Duration: (longestFault * scale * scale / 10_000).Round(time.Millisecond)}}
}

// one draws one of the values.
func one[V any](r *rand.Rand, values ...V) V { return values[r.IntN(len(values))] }

// newName returns a name for an object that a step creates. It does not use generateName: if the API server does not
// answer and the creation is repeated, generateName would create two objects.
func newName(w *world.World, prefix string) string {
	return fmt.Sprintf("%s-%08x", prefix, w.Random.Uint32())
}

// endAfter undoes a fault in the background after a time, or when all faults end, if that is earlier.
func endAfter(ctx context.Context, w *world.World, d time.Duration, undo func(context.Context) error) {
	over, undone := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-over:
		case <-ctx.Done():
		case <-time.After(d):
		}
		undone <- undo(world.WithoutEffect(ctx))
	}()
	w.Later(func(context.Context) error {
		close(over)
		return <-undone
	})
}

// inParallel calls do in the background, during the next steps. When all faults end, it cancels the context of do.
func inParallel(ctx context.Context, w *world.World, do func(context.Context) error) {
	ctx, stop := context.WithCancel(ctx)
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = do(ctx)
	}()
	w.Later(func(context.Context) error {
		select {
		case <-done:
			stop()
			return err
		default: // Interrupted requests fail.
			stop()
			<-done
			return nil
		}
	})
}

// often calls do once, or several times in the background during the next steps.
func often(ctx context.Context, w *world.World, times int, pause time.Duration, do func(context.Context) error) error {
	if times == 1 {
		return do(ctx)
	}
	inParallel(ctx, w, func(ctx context.Context) error { return repeat(ctx, times, pause, do) })
	return nil
}

// repeat calls do several times, with pauses.
func repeat(ctx context.Context, times int, pause time.Duration, do func(context.Context) error) error {
	for i := range times {
		if i > 0 && !rest(ctx, pause) {
			return nil
		}
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rest waits, and reports whether it has waited the whole time.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
