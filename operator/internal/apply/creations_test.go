package apply

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

func TestACreationIsTakenOnce(t *testing.T) {
	service := func(uid, version string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}}
	}
	c := newCreations()
	note := func(uid types.UID, version string) {
		c.note(&metav1ac.ObjectMetaApplyConfiguration{UID: &uid, ResourceVersion: &version})
	}
	c.note(&metav1ac.ObjectMetaApplyConfiguration{}) // An empty answer must not cause a panic.
	note("a", "5")
	note("b", "6")
	if c.take(service("other", "5")) {
		t.Error("another client's object is taken for the operator's")
	}
	if !c.take(service("a", "5")) {
		t.Error("what was created is not known")
	}
	if c.take(service("a", "5")) {
		t.Error("it is known a second time")
	}
	if c.take(service("b", "7")) {
		t.Error("an object that changed since is taken for what was created")
	}
}

func TestCreationsAreForgotten(t *testing.T) {
	now := time.Now()
	c := newCreations()
	c.now = func() time.Time { return now }
	for _, uid := range []types.UID{"a", "b", "c"} {
		version := "5"
		c.note(&metav1ac.ObjectMetaApplyConfiguration{UID: &uid, ResourceVersion: &version})
		now = now.Add(creationTTL/2 + time.Second)
	}
	if len(c.made) != 2 {
		t.Errorf("%d creations are remembered, want the last two", len(c.made))
	}
}

func TestWhatIsCreatedIsLookedAtOneMoreTime(t *testing.T) {
	server := &stub{}
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"}}
	objects := []render.Object{rendered(t, planned(t, nil))}
	report := NewSyncer(server, server, clientgoscheme.Scheme, nil).Sync(t.Context(), mc, observe.Snapshot{}, objects)
	if report[0].Result != Created || report.RetryAfter() != createdRetry {
		t.Errorf("%s, looked at again after %s, want %s", report[0].Result, report.RetryAfter(), createdRetry)
	}
}
