package controller

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// typical returns a Memcached with the fields that most users set.
func typical() *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "sessions", Namespace: "shop", UID: "uid-1", Generation: 1}}
	mc.Spec.Size, mc.Spec.Memory = new(int32(3)), new(resource.MustParse("1Gi"))
	mc.Spec.TLS = &cachev1.TLS{SecretName: "sessions-tls"}
	return mc
}

func benchmarkDefaults() plan.Defaults {
	return plan.Defaults{
		Revisions: render.Revisions(), Image: "registry.example.com/memcached:1.6.45",
		AgentImage: "registry.example.com/agent:1", Architectures: []string{"amd64", "arm64"}, Platform: plan.Kubernetes,
	}
}

// stored stands for the API server: it keeps the applied objects of one cache, unless forgets is set.
type stored struct {
	apply.Client
	t       testing.TB
	objects map[observe.Key]client.Object
	writes  int
	forgets bool
}

func (s *stored) Apply(_ context.Context, wanted runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	s.t.Helper()
	if s.writes++; s.forgets {
		return nil
	}
	content, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	kind := metav1.TypeMeta{}
	if err := json.Unmarshal(content, &kind); err != nil {
		return err
	}
	object := observe.New(kind.GroupVersionKind().GroupKind())
	if err := json.Unmarshal(content, object); err != nil {
		return err
	}
	object.SetUID("uid-2")
	object.SetResourceVersion("7")
	object.SetGeneration(1)
	s.objects[observe.Key{GroupKind: kind.GroupVersionKind().GroupKind(), Name: object.GetName()}] = object
	return nil
}

// pure runs the steps of a reconciliation that neither read nor write.
func pure(b testing.TB, syncer *apply.Syncer, mc *cachev1.Memcached, snapshot observe.Snapshot) cachev1.MemcachedStatus {
	b.Helper()
	c := &reconciliation{memcached: mc, snapshot: snapshot, now: time.Unix(1_800_000_000, 0)}
	r := &Reconciler{
		syncer: syncer, updates: newUpdateQueue(1),
		defaults: func(context.Context) plan.Defaults { return benchmarkDefaults() },
	}
	if err := r.plan(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	r.apply(b.Context(), c)
	return status.Evaluate(c.statusInput())
}

// rolledOut gives a Deployment the status that it has when all Pods of the cache are ready.
func rolledOut(live *appsv1.Deployment) {
	live.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
	}
}

func newStored(b testing.TB) (*stored, *apply.Syncer) {
	b.Helper()
	server := &stored{t: b, objects: map[observe.Key]client.Object{}}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		b.Fatal(err)
	}
	return server, apply.NewSyncer(server, nil, scheme, nil)
}

// BenchmarkReconcileAtRest measures the steps of a reconciliation that finds nothing to do, without reads.
func BenchmarkReconcileAtRest(b *testing.B) {
	server, syncer := newStored(b)
	mc := typical()
	snapshot := observe.Snapshot{Name: mc.Name, Objects: server.objects, TLS: &secrets.State{Name: "sessions-tls"}}
	mc.Status = pure(b, syncer, mc, snapshot)
	rolledOut(snapshot.Deployment())
	mc.Status = pure(b, syncer, mc, snapshot)
	server.writes = 0
	b.ReportAllocs()
	for b.Loop() {
		if now := pure(b, syncer, mc, snapshot); status.Differs(mc.Status, now) {
			b.Fatalf("the status differs: %+v", now)
		}
	}
	if server.writes > 0 {
		b.Fatalf("%d writes at rest", server.writes)
	}
}

// BenchmarkReconcileANewCache measures the plan, the objects and the status of a cache of which nothing exists.
func BenchmarkReconcileANewCache(b *testing.B) {
	server, syncer := newStored(b)
	server.forgets = true
	b.ReportAllocs()
	for b.Loop() {
		mc := typical()
		pure(b, syncer, mc, observe.Snapshot{Name: mc.Name, Objects: map[observe.Key]client.Object{}})
	}
}
