package world

import (
	"context"
	"maps"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// effects counts the steps that had an effect, by action.
type effects struct {
	mu    sync.Mutex
	count map[string]int
}

type effectKey struct{}

// WithEffect returns the context of a step. However often HadEffect is called with it, the step counts once.
func (w *World) WithEffect(ctx context.Context, action string) context.Context {
	return context.WithValue(ctx, effectKey{}, sync.OnceFunc(func() {
		w.effects.mu.Lock()
		defer w.effects.mu.Unlock()
		if w.effects.count == nil {
			w.effects.count = map[string]int{}
		}
		w.effects.count[action]++
	}))
}

// WithoutEffect returns a context for requests of a step that do not count as its effect: requests that prepare the
// step, or undo it.
func WithoutEffect(ctx context.Context) context.Context {
	return context.WithValue(ctx, effectKey{}, func() {})
}

// HadEffect records that the step of the context had an effect. The World's client calls it for each successful write.
func HadEffect(ctx context.Context) {
	if note, ok := ctx.Value(effectKey{}).(func()); ok {
		note()
	}
}

// Effects returns how many steps had an effect, by action.
func (w *World) Effects() map[string]int {
	w.effects.mu.Lock()
	defer w.effects.mu.Unlock()
	return maps.Clone(w.effects.count)
}

// noting returns a client that records an effect for each write, unless the API server refuses the write, or the write
// changes nothing.
func noting(c client.WithWatch) client.WithWatch {
	noted := func(ctx context.Context, err error) error {
		if err == nil {
			HadEffect(ctx)
		}
		return err
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return noted(ctx, c.Create(ctx, o, options...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return noted(ctx, c.Delete(ctx, o, options...))
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			before := o.GetResourceVersion()
			err := c.Update(ctx, o, options...)
			if o.GetResourceVersion() == before {
				return err
			}
			return noted(ctx, err)
		},
		Patch: func(
			ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption,
		) error {
			return noted(ctx, c.Patch(ctx, o, patch, options...))
		},
		SubResourceCreate: func(
			ctx context.Context, c client.Client, name string, o, sub client.Object, options ...client.SubResourceCreateOption,
		) error {
			return noted(ctx, c.SubResource(name).Create(ctx, o, sub, options...))
		},
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, name string, o client.Object, options ...client.SubResourceUpdateOption,
		) error {
			return noted(ctx, c.SubResource(name).Update(ctx, o, options...))
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, name string, o client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			return noted(ctx, c.SubResource(name).Patch(ctx, o, patch, options...))
		},
	})
}
