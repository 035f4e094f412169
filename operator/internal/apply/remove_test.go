package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// deleter remembers what is deleted, and fails to delete one object.
type deleter struct {
	client.Reader
	Client
	stays   string
	deleted []string
}

func (d *deleter) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	if object.GetName() == d.stays {
		return errors.New("no answer")
	}
	d.deleted = append(d.deleted, object.GetName())
	return nil
}

// TestTheServiceOfAllSlotsIsDeletedLast: from this Service, a restarted operator knows that objects of slots still
// exist.
func TestTheServiceOfAllSlotsIsDeletedLast(t *testing.T) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team", UID: "uid-1"}}
	owned := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "team", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached", Name: mc.Name, UID: mc.UID, Controller: new(true),
		}}}
	}
	objects := map[observe.Key]client.Object{}
	for _, name := range []string{"shop-slots", "shop-1", "shop-0"} {
		objects[observe.Key{GroupKind: observe.ServiceKind.GroupKind(), Name: name}] = &corev1.Service{ObjectMeta: owned(name)}
	}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: owned("shop-slots-ipv4")}
	objects[observe.Key{GroupKind: observe.SliceKind.GroupKind(), Name: slice.Name}] = slice
	for stays, want := range map[string][]string{
		"":                {"shop-slots-ipv4", "shop-0", "shop-1", "shop-slots"},
		"shop-slots-ipv4": {"shop-0", "shop-1"},
		"shop-1":          {"shop-slots-ipv4", "shop-0"},
	} {
		server := &deleter{stays: stays}
		syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
		report := syncer.Sync(t.Context(), mc, observe.Snapshot{Name: mc.Name, Objects: objects}, nil)
		if diff := cmp.Diff(want, server.deleted); diff != "" || (report.Err() != nil) != (stays != "") {
			t.Errorf("%q stays: error %v, deleted (-want +got):\n%s", stays, report.Err(), diff)
		}
	}
}

// TestAFormerBindingIsDeletedOnceThereIsAnother: until then, clients need the Secret of the former binding.
func TestAFormerBindingIsDeletedOnceThereIsAnother(t *testing.T) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team", UID: "uid-1"}}
	kind := observe.SecretKind.GroupKind()
	former := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "team", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached", Name: mc.Name, UID: mc.UID, Controller: new(true),
	}}}}
	snapshot := observe.Snapshot{Name: mc.Name, Objects: map[observe.Key]client.Object{{GroupKind: kind, Name: "a"}: former}}
	for name, tc := range map[string]struct {
		wanted []render.Object
		want   []string
	}{
		"no binding":                     {nil, []string{"a"}},
		"the other one is not made yet":  {[]render.Object{{GroupKind: kind, Metadata: metav1ac.ObjectMeta().WithName("b"), Kept: true}}, nil},
		"it is still the one, and stays": {[]render.Object{{GroupKind: kind, Metadata: metav1ac.ObjectMeta().WithName("a"), Kept: true}}, nil},
	} {
		server := &deleter{}
		NewSyncer(server, server, clientgoscheme.Scheme, nil).Sync(t.Context(), mc, snapshot, tc.wanted)
		if diff := cmp.Diff(tc.want, server.deleted); diff != "" {
			t.Errorf("%s: deleted (-want +got):\n%s", name, diff)
		}
	}
}
