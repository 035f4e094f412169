package controller

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// answering answers a patch of the status according to the type of the patch.
type answering struct {
	client.SubResourceWriter

	answers map[types.PatchType]error
	sent    []types.PatchType
}

func (a *answering) Patch(_ context.Context, _ client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	a.sent = append(a.sent, patch.Type())
	return a.answers[patch.Type()]
}

// statusClient is a client that writes nothing but the status.
type statusClient struct {
	client.Client

	status *answering
}

func (c statusClient) Status() client.SubResourceWriter { return c.status }

func TestAPatchOfAnotherVersionEndsAsAConflict(t *testing.T) {
	short := cachev1.MemcachedStatus{Endpoint: "x"}
	long := cachev1.MemcachedStatus{}
	for number := range 100 {
		long.Nodes = append(long.Nodes, fmt.Sprintf("pod-with-a-name-%03d", number))
	}
	longer := *long.DeepCopy()
	longer.ReadyReplicas, longer.Nodes = 1, append([]string{"another"}, long.Nodes...)
	kind := schema.GroupResource{Resource: "memcacheds"}
	invalid, conflict := apierrors.NewInvalid(schema.GroupKind{}, "cache", nil), apierrors.NewConflict(kind, "cache", nil)
	merge, json := types.MergePatchType, types.JSONPatchType
	tests := map[string]struct {
		before, now cachev1.MemcachedStatus
		answers     map[types.PatchType]error
		want        []types.PatchType
		isConflict  bool
	}{
		"a short one":                        {before: cachev1.MemcachedStatus{}, now: short, want: []types.PatchType{merge}},
		"a long one of which little changed": {before: long, now: longer, want: []types.PatchType{json}},
		"a long one that is new":             {before: cachev1.MemcachedStatus{}, now: long, want: []types.PatchType{merge}},
		"another version": {
			before: long, now: longer, answers: map[types.PatchType]error{json: conflict}, want: []types.PatchType{json},
			isConflict: true,
		},
		"another version that does not have a position": {
			before: long, now: longer, answers: map[types.PatchType]error{json: invalid, merge: conflict},
			want: []types.PatchType{json, merge}, isConflict: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fake := &answering{answers: tc.answers}
			mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", ResourceVersion: "7"}, Status: tc.before}
			_, err := (&Reconciler{client: statusClient{status: fake}}).patchStatus(t.Context(), mc, tc.now)
			if apierrors.IsConflict(err) != tc.isConflict {
				t.Errorf("error %v, want a conflict: %t", err, tc.isConflict)
			}
			if diff := cmp.Diff(tc.want, fake.sent); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}
