package site

import (
	"context"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// Cluster brings up a cluster that ends with the test. Before that, it ends the cluster that an interrupted run left.
func Cluster(t testing.TB, options local.Options) *local.Cluster {
	t.Helper()
	down := func() {
		if _, err := local.Down(context.WithoutCancel(t.Context()), options.Name); err != nil {
			t.Errorf("take the cluster down: %v", err)
		}
	}
	down()
	t.Cleanup(down)
	cluster, err := local.Up(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}
