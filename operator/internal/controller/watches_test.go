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
		"the status that was written last":              {func(*cachev1.Memcached) {}, false},
		"a status of somebody else's":                   {func(mc *cachev1.Memcached) { mc.Status.ReadyReplicas = 9 }, true},
		"that status, and another spec":                 {func(mc *cachev1.Memcached) { mc.Generation = 2 }, true},
		"that status, and an annotation":                {func(mc *cachev1.Memcached) { mc.Annotations = map[string]string{"a": "b"} }, true},
		"that status, and a label":                      {func(mc *cachev1.Memcached) { mc.Labels = map[string]string{"a": "b"} }, true},
		"that status, of one that is deleted":           {func(mc *cachev1.Memcached) { mc.DeletionTimestamp = new(metav1.Now()) }, true},
		"that status, of a namesake":                    {func(mc *cachev1.Memcached) { mc.UID = "other" }, true},
		"nothing, which a resync has looked at again":   {func(mc *cachev1.Memcached) { mc.ResourceVersion = "1" }, true},
		"the same status, which nobody here wrote last": {func(mc *cachev1.Memcached) { mc.Status = there.Status }, true},
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

func TestAResyncOfChildrenIsNotLookedAt(t *testing.T) {
	child := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "child", ResourceVersion: "1"}}
	changed := child.DeepCopy()
	changed.ResourceVersion = "2"
	changes := objectChanges(apply.NewSyncer(nil, nil, clientgoscheme.Scheme, nil))
	if changes.Update(event.UpdateEvent{ObjectOld: child, ObjectNew: child}) {
		t.Error("a child that did not change is looked at")
	}
	if !changes.Update(event.UpdateEvent{ObjectOld: child, ObjectNew: changed}) {
		t.Error("a change is not looked at")
	}
	if !changes.Create(event.CreateEvent{Object: child}) {
		t.Error("a child that the operator did not create just now is not looked at")
	}
	if !changes.Delete(event.DeleteEvent{Object: child}) {
		t.Error("a deletion is not looked at")
	}
}
