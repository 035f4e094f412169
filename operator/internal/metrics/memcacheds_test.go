package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestMemcachedsAreCountedByReason(t *testing.T) {
	builder := fake.NewClientBuilder().WithScheme(scheme(t))
	for i, reason := range []string{"", cachev1.ReasonAllNodesReady, cachev1.ReasonAllNodesReady, cachev1.ReasonInvalidSpec} {
		mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(i)}}
		if reason != "" {
			mc.Status = statusOf(reason)
		}
		builder.WithObjects(mc)
	}
	registry := prometheus.NewRegistry()
	CountMemcacheds(registry, builder.Build(), closed())
	want := map[string]float64{}
	for _, reason := range reasons {
		want["memcached_operator_memcacheds "+reason] = 0
	}
	want["memcached_operator_memcacheds AllNodesReady"] = 2
	want["memcached_operator_memcacheds InvalidSpec"] = 1
	if diff := cmp.Diff(want, counts(t, registry)); diff != "" {
		t.Errorf("Memcacheds (-want +got):\n%s", diff)
	}
}

func TestAnOperatorThatStandsByAsksForNothing(t *testing.T) {
	registry := prometheus.NewRegistry()
	CountMemcacheds(registry, broken{}, make(chan struct{}))
	if got := counts(t, registry); len(got) > 0 {
		t.Errorf("it tells %v", got)
	}
}

func TestAScrapeTellsWhyMemcachedsCanNotBeCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	CountMemcacheds(registry, broken{}, closed())
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "the cache is gone") {
		t.Errorf("error: %v", err)
	}
}

// broken is a cache that answers nothing.
type broken struct{ client.Reader }

func (broken) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the cache is gone")
}

func closed() <-chan struct{} {
	leading := make(chan struct{})
	close(leading)
	return leading
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := cachev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}
