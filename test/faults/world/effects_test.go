package world

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAStepHasAnEffectIfItChangesSomething(t *testing.T) {
	named := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-1", Name: name}}
	}
	tests := map[string]struct {
		step func(context.Context, client.Client)
		want map[string]int
	}{
		"a creation": {
			func(ctx context.Context, c client.Client) { _ = c.Create(ctx, named("b")) }, map[string]int{"a step": 1},
		},
		"several writes are one effect": {func(ctx context.Context, c client.Client) {
			_ = c.Create(ctx, named("b"))
			_ = c.Delete(ctx, named("a"))
		}, map[string]int{"a step": 1}},
		"a creation of what exists": {
			func(ctx context.Context, c client.Client) { _ = c.Create(ctx, named("a")) }, nil,
		},
		"a deletion of what does not exist": {
			func(ctx context.Context, c client.Client) { _ = c.Delete(ctx, named("b")) }, nil,
		},
		"a read": {
			func(ctx context.Context, c client.Client) {
				_ = c.Get(ctx, client.ObjectKeyFromObject(named("a")), &corev1.ConfigMap{})
			}, nil,
		},
		"what it undoes does not count": {
			func(ctx context.Context, c client.Client) { _ = c.Delete(WithoutEffect(ctx), named("a")) }, nil,
		},
		"a fault of a request": {
			func(ctx context.Context, _ client.Client) { HadEffect(ctx) }, map[string]int{"a step": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := &World{}
			tc.step(w.WithEffect(t.Context(), "a step"), noting(fake.NewClientBuilder().WithObjects(named("a")).Build()))
			if diff := cmp.Diff(tc.want, w.Effects()); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNoStepHasNoEffect(t *testing.T) { HadEffect(t.Context()) }
