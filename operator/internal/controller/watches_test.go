package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
)

func TestOnlyNewsOfAMemcachedIsLookedAt(t *testing.T) {
	there := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{UID: "cache", ResourceVersion: "1", Generation: 1}}
	written := there.DeepCopy()
	written.ResourceVersion, written.Status.ReadyReplicas = "2", 2
	tests := map[string]struct {
		become func(*cachev1.Memcached)
		want   bool
	}{
		"the status that was written last":                 {func(*cachev1.Memcached) {}, false},
		"a status of another client":                       {func(mc *cachev1.Memcached) { mc.ResourceVersion, mc.Status.ReadyReplicas = "3", 9 }, true},
		"that status, and another spec":                    {func(mc *cachev1.Memcached) { mc.Generation = 2 }, true},
		"that status, and an annotation":                   {func(mc *cachev1.Memcached) { mc.Annotations = map[string]string{"a": "b"} }, true},
		"that status, and a label":                         {func(mc *cachev1.Memcached) { mc.Labels = map[string]string{"a": "b"} }, true},
		"that status, of one that is deleted":              {func(mc *cachev1.Memcached) { mc.DeletionTimestamp = new(metav1.Now()) }, true},
		"that status, of a namesake":                       {func(mc *cachev1.Memcached) { mc.UID = "other" }, true},
		"nothing, which a resync has looked at again":      {func(mc *cachev1.Memcached) { mc.ResourceVersion = "1" }, true},
		"the same status, which another client wrote last": {func(mc *cachev1.Memcached) { mc.ResourceVersion, mc.Status = "3", there.Status }, true},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			s := newStatuses()
			s.note(there, written)
			now := written.DeepCopy()
			tc.become(now)
			if got := s.news().Update(event.UpdateEvent{ObjectOld: there, ObjectNew: now}); got != tc.want {
				t.Errorf("looked at: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestAResyncOfManagedObjectsIsIgnored(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "service", ResourceVersion: "1"}}
	changed := service.DeepCopy()
	changed.ResourceVersion = "2"
	changes := objectChanges(apply.NewSyncer(nil, nil, clientgoscheme.Scheme, nil))
	if changes.Update(event.UpdateEvent{ObjectOld: service, ObjectNew: service}) {
		t.Error("an unchanged object triggers a reconciliation")
	}
	if !changes.Update(event.UpdateEvent{ObjectOld: service, ObjectNew: changed}) {
		t.Error("a change is not looked at")
	}
	if !changes.Create(event.CreateEvent{Object: service}) {
		t.Error("an object that the operator did not just create triggers no reconciliation")
	}
	if !changes.Delete(event.DeleteEvent{Object: service}) {
		t.Error("a deletion is not looked at")
	}
}
