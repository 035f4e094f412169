package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// reviewer answers reviews of the operator's rights, and counts the reviews.
type reviewer struct {
	authorizationclient.SelfSubjectAccessReviewInterface
	denied []string // rights, or rights in one namespace, such as "team: get pods"
	err    error
	asked  int
	named  string // the object that the last review named
}

func (r *reviewer) Create(
	_ context.Context, review *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions,
) (*authorizationv1.SelfSubjectAccessReview, error) {
	r.asked++
	right := *review.Spec.ResourceAttributes
	r.named = right.Name
	review.Status.Allowed = !slices.Contains(r.denied, describe(right)) &&
		!slices.Contains(r.denied, right.Namespace+": "+describe(right))
	return review, r.err
}

func TestTheRightsOfSlotsAreReviewed(t *testing.T) {
	all := len(slotRights)
	tests := map[string]struct {
		namespaces []string
		denied     []string
		err        error
		want       []string
		asked      int
	}{
		"all are granted":                           {asked: all},
		"all are granted, in two namespaces":        {namespaces: []string{"a", "b"}, asked: 2 * all},
		"some are denied":                           {denied: []string{"get pods", "patch pods/status"}, want: []string{"get pods", "patch pods/status"}, asked: all},
		"one is denied in a namespace":              {namespaces: []string{"a", "b"}, denied: []string{"b: watch replicasets"}, want: []string{"watch replicasets"}, asked: 2 * all},
		"one is denied in all namespaces":           {namespaces: []string{"a", "b"}, denied: []string{"watch replicasets"}, want: []string{"watch replicasets"}, asked: 2 * all},
		"one is denied in a namespace of no matter": {namespaces: []string{"a"}, denied: []string{"b: get pods"}, asked: all},
		"the API server does not answer":            {err: errors.New("no answer"), asked: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			asker := &reviewer{denied: tc.denied, err: tc.err}
			missing, err := (&rights{access: asker, namespaces: tc.namespaces, needed: slotRights}).missing(t.Context())
			if diff := cmp.Diff(tc.want, missing); diff != "" || !errors.Is(err, tc.err) || asker.asked != tc.asked {
				t.Errorf("error %v, %d questions, want %d; missing (-want +got):\n%s", err, asker.asked, tc.asked, diff)
			}
		})
	}
}

// watches counts the watches that a controller is asked to start.
type watches struct {
	controller.Controller
	count int
}

func (w *watches) Watch(source.Source) error {
	w.count++
	return nil
}

// indexes counts the indexes of a cache.
type indexes struct {
	cache.Cache
	count int
}

func (i *indexes) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	i.count++
	return nil
}

// services is a cache with Services.
type services struct {
	client.Reader
	items []corev1.Service
}

func (s services) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	for i := range s.items {
		if s.items[i].Name == key.Name {
			s.items[i].DeepCopyInto(object.(*corev1.Service))
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, key.Name)
}

// List returns the Services that the index has for the cache named shop.
func (s services) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	for i := range s.items {
		if slices.Contains(observe.InstanceOfSlot(&s.items[i]), "shop") {
			found := list.(*corev1.ServiceList)
			found.Items = append(found.Items, s.items[i])
		}
	}
	return nil
}

func TestWatchesOfSlotsStartOnceACacheHasSome(t *testing.T) {
	service := func(name string, owner types.UID) services {
		found := corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if owner != "" {
			found.OwnerReferences = []metav1.OwnerReference{{UID: owner, Controller: new(true)}}
		}
		return services{items: []corev1.Service{found}}
	}
	labeled := func(name string) services {
		found := service(name, "uid-shop")
		found.items[0].Labels = map[string]string{names.LabelInstance: "shop"}
		return found
	}
	asks := func(mc *cachev1.Memcached) { mc.Spec.Slots = &cachev1.Slots{} }
	tests := map[string]struct {
		change   func(*cachev1.Memcached)
		services services
		denied   []string
		want     bool
	}{
		"a cache without slots needs none": {},
		"a cache that requests slots":      {change: asks, want: true},
		"a cache that still has slots":     {change: func(mc *cachev1.Memcached) { mc.Status.Slots = []cachev1.SlotStatus{{}} }, want: true},
		"objects of former slots":          {services: service("shop-slots", "uid-shop"), want: true},
		"such objects without an owner":    {services: service("shop-slots", ""), want: true},
		"the Service of another cache":     {services: service("shop-slots", "uid-of-shop-slots")},
		"the Service of a former slot, and others have the name of that of all slots": {services: services{items: append(
			service("shop-slots", "uid-of-others").items, service("shop-0", "uid-shop").items...)}, want: true},
		"the Service of another former slot":          {services: labeled("shop-1"), want: true},
		"another Service":                             {services: service("shop-x", "uid-shop")},
		"another Service with the label of the cache": {services: labeled("shop-x")},
		"an operator without the rights":              {change: asks, denied: []string{"patch pods"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			watched, indexed := &watches{}, &indexes{}
			watch := &slotWatch{
				controller: watched, cache: indexed, reader: tc.services,
				rights: &rights{access: &reviewer{denied: tc.denied}, needed: slotRights},
			}
			mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team", UID: "uid-shop"}}
			if tc.change != nil {
				tc.change(mc)
			}
			for range 2 {
				hasSlots, missing, err := watch.startFor(t.Context(), mc)
				if diff := cmp.Diff(tc.denied, missing); hasSlots != tc.want || err != nil || diff != "" {
					t.Errorf("has slots: %v, error %v; missing (-want +got):\n%s", hasSlots, err, diff)
				}
			}
			if begun := []int{watched.count, indexed.count}; tc.want != slices.Equal(begun, []int{2, 2}) ||
				!tc.want && begun[0]+begun[1] > 0 {
				t.Errorf("%d watches, %d indexes", begun[0], begun[1])
			}
		})
	}
}

func TestMissingRightsAreReviewedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := &reviewer{denied: []string{"get pods"}}
		watch := &slotWatch{controller: &watches{}, cache: &indexes{}, rights: &rights{access: asker, needed: slotRights}}
		mc := &cachev1.Memcached{Spec: cachev1.MemcachedSpec{Slots: &cachev1.Slots{}}}
		look := func(want bool, asked int) {
			t.Helper()
			for range 10 {
				if hasSlots, _, err := watch.startFor(t.Context(), mc); hasSlots != want || err != nil {
					t.Errorf("has slots: %v, error %v", hasSlots, err)
				}
			}
			if all := len(slotRights); asker.asked != asked*all {
				t.Errorf("%d questions, want %d", asker.asked, asked*all)
			}
		}
		look(false, 1)
		asker.denied = nil
		look(false, 1)
		time.Sleep((&reconciliation{memcached: mc, missingRights: []string{"get pods"}}).again())
		look(true, 2)
		time.Sleep(24 * time.Hour)
		look(true, 2)
	})
}

// TestNobodyWaitsForRightsWithoutRequestingSlots: if only the deletion of objects of former slots needs rights, the
// operator waits for the next event.
func TestNobodyWaitsForRightsWithoutRequestingSlots(t *testing.T) {
	c := &reconciliation{memcached: &cachev1.Memcached{}, missingRights: []string{"delete services"}}
	if after := c.again(); after != 0 {
		t.Errorf("reconciled again after %v", after)
	}
}

// TestTheComponentRemovesWhatSlotsNeed: the component without-slots removes the rights that slots need, and no others.
func TestTheComponentRemovesWhatSlotsNeed(t *testing.T) {
	with, without := rightsIn(t, "../../../overlays/multiarch"), rightsIn(t, "testdata/without-slots")
	var removed, want []string
	for right := range with {
		if !without[right] {
			removed = append(removed, right)
		}
	}
	resize := authorizationv1.ResourceAttributes{Resource: "pods", Subresource: "resize", Verb: "patch"}
	for _, right := range append([]authorizationv1.ResourceAttributes{resize}, slotRights...) {
		want = append(want, right.Group+": "+describe(right))
	}
	slices.Sort(removed)
	slices.Sort(want)
	if diff := cmp.Diff(want, removed); diff != "" || len(with) != len(without)+len(removed) {
		t.Errorf("%d rights with slots, %d without; removed (-needed for slots +removed):\n%s", len(with), len(without), diff)
	}
}

// rightsIn returns the rights of the operator's role that a kustomization builds.
func rightsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	objects, err := kustomize.Objects(dir)
	if err != nil {
		t.Fatal(err)
	}
	rights := map[string]bool{}
	for _, object := range objects {
		if object.GetKind() != "ClusterRole" || object.GetName() != "memcached-operator-manager-role" {
			continue
		}
		role := &rbacv1.ClusterRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights[rule.APIGroups[0]+": "+verb+" "+resource] = true
				}
			}
		}
	}
	return rights
}
