package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestNothingIsKeptOfDeletedCaches(t *testing.T) {
	f := newFleet(t, 1, "a", "b", "c")
	f.updates("a", "b", "c")
	old := candidate{memcached: f.caches["b"], planned: true, pending: true, usable: true}
	f.remove("a")
	f.remove("b")
	f.change("c", func(mc *cachev1.Memcached) { mc.Spec.UpdatePolicy = "" })
	if entry := f.enter(old); entry.phase != unseen {
		t.Error("a cache that was deleted in the meantime is updated")
	}
	if len(f.entries) != 0 {
		t.Errorf("still known: %v", f.entries)
	}
	f.create("b")
	old.memcached = old.memcached.DeepCopy()
	old.memcached.UID = "of the former b"
	if entry := f.enter(old); entry.phase != unseen {
		t.Error("a namesake has the entry of the one before it")
	}
	f.roll("b")
	f.change("b", func(mc *cachev1.Memcached) { mc.UID = "of the next b" }) // As after an interrupted watch.
	if phase := f.entries[types.NamespacedName{Namespace: "shop", Name: "b"}].phase; phase != unseen {
		t.Errorf("a namesake is in phase %d", phase)
	}
}
