package apply

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// stub answers as an API server that has one Deployment, and records the requests.
type stub struct {
	client.Reader
	Client
	there              *appsv1.Deployment
	readErr, applyErr  error
	undoes             bool // Admission undoes what is applied.
	writesConcurrently bool // Another client writes between the operator's read and its write.
	asked              []string
	patch              string
}

func (s *stub) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.asked = append(s.asked, "get")
	s.there.DeepCopyInto(into.(*appsv1.Deployment))
	return s.readErr
}

func (s *stub) Apply(_ context.Context, wanted runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	s.asked = append(s.asked, "apply")
	deployment, ok := wanted.(*appsv1ac.DeploymentApplyConfiguration)
	if !ok || s.there == nil || s.applyErr != nil {
		return s.applyErr
	}
	if !s.undoes {
		deployment.WithResourceVersion(s.there.ResourceVersion + "-next")
		return nil
	}
	answer, err := json.Marshal(s.there)
	if err := errors.Join(err, json.Unmarshal(answer, deployment)); err != nil {
		return err
	}
	if s.writesConcurrently {
		deployment.WithResourceVersion(s.there.ResourceVersion + "-next")
	}
	return nil
}

func (s *stub) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	s.asked = append(s.asked, "patch")
	data, err := patch.Data(object)
	s.patch = string(data)
	return err
}

// scaled returns an owned Deployment that kubectl scaled: as the cache has it, and as the API server has it.
func scaled(t *testing.T) (cached, fresh *appsv1.Deployment) {
	t.Helper()
	fresh = liveAs(t, stamped(t, planned(t, nil)))
	fresh.Spec.Replicas = new(int32(7))
	fresh.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubectl", Operation: "Update", Subresource: "scale",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
	}}
	cached = fresh.DeepCopy()
	cached.ManagedFields = nil
	return cached, fresh
}

// syncDeployment syncs a Deployment once.
func (s *Syncer) syncDeployment(t *testing.T, cached *appsv1.Deployment) Outcome {
	t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"}}
	kind := observe.DeploymentKind.GroupKind()
	return s.Sync(t.Context(), mc, snapshotOf(kind, cached), []render.Object{rendered(t, planned(t, nil))})[0]
}

func TestDriftIsReverted(t *testing.T) {
	const (
		known   = `.spec.replicas 3 -> 7 by "kubectl" (Update of scale, no time recorded)`
		unknown = `.spec.replicas 3 -> 7 by an unrecorded client`
	)
	refused := apierrors.NewInvalid(observe.DeploymentKind.GroupKind(), "cache",
		field.ErrorList{field.Invalid(field.NewPath("spec", "x"), 1, "no")})
	tests := map[string]struct {
		server func(*stub)
		asked  []string
		result Result
		words  string
	}{
		"with one read and one write": {
			server: func(*stub) {}, asked: []string{"get", "apply"}, result: Updated, words: known,
		},
		"also where who did it can't be read": {
			server: func(s *stub) { s.readErr = errors.New("no") },
			asked:  []string{"get", "apply"}, result: Updated, words: unknown,
		},
		"also where another object has taken its place, which the API server refuses": {
			server: func(s *stub) { s.there.UID = "uid-3" },
			asked:  []string{"get", "apply"}, result: Updated, words: unknown,
		},
		"by another client, before it was compared": {
			server: func(s *stub) { s.there.Spec.Replicas = new(int32(3)) },
			asked:  []string{"get"}, result: Unchanged,
		},
		"unless admission undoes that": {
			server: func(s *stub) { s.undoes = true },
			asked:  []string{"get", "apply"}, result: Conflicting,
			words: `.spec.replicas 3 -> 7 by a mutating admission policy or webhook`,
		},
		"or admission undoes that while another client writes": {
			server: func(s *stub) { s.undoes, s.writesConcurrently = true, true },
			asked:  []string{"get", "apply"}, result: Conflicting,
			words: `.spec.replicas 3 -> 7 by a mutating admission policy or webhook`,
		},
		"unless the API server refuses that, which is not the spec's fault": {
			server: func(s *stub) { s.applyErr = refused },
			asked:  []string{"get", "apply"}, result: Failed, words: known,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			cached, fresh := scaled(t)
			server := &stub{there: fresh}
			tc.server(server)
			got := NewSyncer(server, server, clientgoscheme.Scheme, nil).syncDeployment(t, cached)
			if diff := cmp.Diff(tc.asked, server.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if got.Result != tc.result || drift.Describe(got.Drift) != tc.words {
				t.Errorf("%s: %s", got.Result, drift.Describe(got.Drift))
			}
			if tc.result == Failed && ((Report{got}).SpecRefused() || !strings.Contains(got.Err.Error(), known)) {
				t.Errorf("failed with %v", got.Err)
			}
		})
	}
}

func TestAChangedDesiredStateIsNoDrift(t *testing.T) {
	cached, fresh := scaled(t)
	server := &stub{there: fresh}
	cached.Annotations[names.AnnotationAppliedHash] = "former"
	got := NewSyncer(server, server, clientgoscheme.Scheme, nil).syncDeployment(t, cached)
	if got.Result != Updated || got.Drift != nil || !cmp.Equal(server.asked, []string{"apply"}) {
		t.Errorf("%s, drift %v, requests %v", got.Result, got.Drift, server.asked)
	}
}

// TestAWriteThatAdmissionUndoesIsAConflict: no watch event follows, so the operator has to try again without one.
func TestAWriteThatAdmissionUndoesIsAConflict(t *testing.T) {
	now := time.Unix(0, 0)
	cached, fresh := scaled(t)
	server := &stub{there: fresh, undoes: true}
	syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
	syncer.conflicts.now = func() time.Time { return now }
	var waits []time.Duration
	for range writesBeforePause + 2 {
		got := syncer.syncDeployment(t, cached)
		if got.Result != Conflicting || len(got.Drift) != 1 || got.Drift[0].Kind != drift.Admission {
			t.Errorf("%s, drift %v", got.Result, got.Drift)
		}
		waits = append(waits, got.RetryAfter)
		now = now.Add(got.RetryAfter)
	}
	want := []time.Duration{replacedRetry, replacedRetry, pace.Shortest, 51 * time.Second}
	if diff := cmp.Diff(want, waits[:len(want)]); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestAChangeThatAdmissionUndoesFailsWithTheReason(t *testing.T) {
	cached, fresh := scaled(t)
	cached.Annotations[names.AnnotationAppliedHash] = "former"
	server := &stub{there: fresh, undoes: true}
	syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
	if got := syncer.syncDeployment(t, cached); got.Result != Failed || !errors.Is(got.Err, errUndone) {
		t.Errorf("%s: %v", got.Result, got.Err)
	}
	if got := syncer.syncDeployment(t, cached); got.Result != Conflicting {
		t.Errorf("the second time %s", got.Result)
	}
}

func TestInAPauseNothingIsAskedTwice(t *testing.T) {
	now := time.Unix(0, 0)
	cached, fresh := scaled(t)
	server := &stub{there: fresh}
	syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
	syncer.conflicts.now = func() time.Time { return now }
	for range writesBeforePause {
		syncer.syncDeployment(t, cached)
	}
	server.asked = nil

	first, second := syncer.syncDeployment(t, cached), syncer.syncDeployment(t, cached)
	if first.Result != Conflicting || first.RetryAfter != pace.Shortest || !cmp.Equal(server.asked, []string{"get"}) {
		t.Errorf("%s for %s, after %v", first.Result, first.RetryAfter, server.asked)
	}
	if diff := cmp.Diff(first.Drift, second.Drift); diff != "" || len(first.Drift) != 1 {
		t.Errorf("described differently (-first +second):\n%s", diff)
	}

	cached.Spec.Paused = true // The operator does not own this field.
	cached.Spec.MinReadySeconds = 7
	if syncer.syncDeployment(t, cached); len(server.asked) != 1 {
		t.Errorf("requests after a change of an unowned field: %v", server.asked)
	}
	fresh.Labels[names.LabelAppName] = "other"
	cached.Labels[names.LabelAppName] = "other"
	if got := syncer.syncDeployment(t, cached); len(got.Drift) != 2 || len(server.asked) != 2 {
		t.Errorf("after one more change, %d drifts and requests %v", len(got.Drift), server.asked)
	}

	now = now.Add(pace.Shortest)
	if got := syncer.syncDeployment(t, cached); got.Result != Updated {
		t.Errorf("%s after the pause", got.Result)
	}
}
