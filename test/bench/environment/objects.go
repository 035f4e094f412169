package environment

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Size is the spec.size of every Memcached.
const Size = 3

// parallel is how many requests of the bench are in flight.
const parallel = 20

// namespaces are the namespaces of the Memcacheds: a cluster with many Memcacheds has many namespaces.
const namespaces = 20

// Kind is a kind of object, and a merge patch that changes a field that the operator owns.
type Kind struct{ APIVersion, Kind, Resource, Drift string }

// Memcached is the kind of the custom resource.
var Memcached = Kind{APIVersion: "cache.example.com/v1", Kind: "Memcached", Resource: "memcacheds"}

// Managed are the kinds of the objects that the operator creates for each Memcached.
var Managed = []Kind{
	{"v1", "Service", "services", `{"spec":{"selector":{"app":"another"}}}`},
	{"apps/v1", "Deployment", "deployments", `{"spec":{"replicas":1}}`},
	{"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", `{"spec":{"policyTypes":["Ingress","Egress"]}}`},
	{"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", `{"spec":{"maxUnavailable":2}}`},
}

// Of returns the object of this kind that belongs to the i-th Memcached.
func (k Kind) Of(i int) *metav1.PartialObjectMetadata {
	key := Name(i)
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: k.APIVersion, Kind: k.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
	}
}

// Name returns the name of the i-th Memcached. All have the same length.
func Name(i int) client.ObjectKey {
	return client.ObjectKey{Namespace: fmt.Sprintf("bench-%02d", i%namespaces), Name: fmt.Sprintf("cache-%05d", i)}
}

// Patch merges a patch into the object of the i-th Memcached.
func (e *Environment) Patch(ctx context.Context, kind Kind, i int, merge string) error {
	return e.Client.Patch(ctx, kind.Of(i), client.RawPatch(types.MergePatchType, []byte(merge)))
}

func (e *Environment) createNamespaces(ctx context.Context) error {
	names := []string{recordedNamespace}
	for i := range namespaces {
		names = append(names, Name(i).Namespace)
	}
	for _, name := range names {
		if err := e.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	return nil
}

func (e *Environment) createMemcached(ctx context.Context, key client.ObjectKey) (*cachev1.Memcached, error) {
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       cachev1.MemcachedSpec{Size: new(int32(Size))},
	}
	return mc, e.Client.Create(ctx, mc)
}

// CreateMemcacheds creates the Memcacheds with the numbers from "from" to "to", without "to". It reports its progress
// by calling update.
func (e *Environment) CreateMemcacheds(ctx context.Context, from, to int, update func(string)) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for i := from; i < to; i++ {
		work.Go(func() error {
			_, err := e.createMemcached(ctx, Name(i))
			return err
		})
		if i%100 == 0 {
			update(fmt.Sprintf("%d of %d Memcacheds created", i, to))
		}
	}
	return work.Wait()
}

// Empty deletes all Memcacheds and their objects.
func (e *Environment) Empty(ctx context.Context) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for i := range namespaces {
		for _, kind := range append([]Kind{Memcached}, Managed...) {
			work.Go(func() error { return e.Client.DeleteAllOf(ctx, kind.Of(i), client.InNamespace(Name(i).Namespace)) })
		}
	}
	return work.Wait()
}
