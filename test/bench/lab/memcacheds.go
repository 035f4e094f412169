package lab

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// makers is how many Memcacheds are made at a time.
const makers = 20

// namespaces are those of the Memcacheds: a cluster with many of them has them in many.
const namespaces = 20

// Name is that of the i-th Memcached. All are equally long.
func Name(i int) client.ObjectKey {
	return client.ObjectKey{Namespace: fmt.Sprintf("bench-%02d", i%namespaces), Name: fmt.Sprintf("cache-%05d", i)}
}

// makeNamespaces makes those of the Memcacheds.
func (l *Lab) makeNamespaces(ctx context.Context) error {
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Name(i).Namespace}}
		if err := l.Client.Create(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// MakeMemcacheds makes those from one number up to, but not including, another. Update is told how far it is.
func (l *Lab) MakeMemcacheds(ctx context.Context, from, to int, size int32, update func(string)) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(makers)
	for i := from; i < to; i++ {
		work.Go(func() error {
			key := Name(i)
			return l.Client.Create(ctx, &cachev1.Memcached{
				ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
				Spec:       cachev1.MemcachedSpec{Size: new(size)},
			})
		})
		if i%100 == 0 {
			update(fmt.Sprintf("%d of %d Memcacheds are made", i, to))
		}
	}
	return work.Wait()
}

// Empty deletes all Memcacheds and their children.
func (l *Lab) Empty(ctx context.Context) error {
	kinds := []client.Object{
		&cachev1.Memcached{}, &appsv1.Deployment{}, &corev1.Service{}, &networkingv1.NetworkPolicy{},
		&policyv1.PodDisruptionBudget{},
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(makers)
	for i := range namespaces {
		for _, kind := range kinds {
			work.Go(func() error {
				object := kind.DeepCopyObject().(client.Object)
				return l.Client.DeleteAllOf(ctx, object, client.InNamespace(Name(i).Namespace))
			})
		}
	}
	return work.Wait()
}
