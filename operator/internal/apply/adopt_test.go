package apply

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

const (
	ownHash   = `{"f:metadata":{"f:annotations":{"f:cache.example.com/applied-hash":{}}}}`
	otherHash = `{"f:metadata":{"f:labels":{"f:app":{}}}}`
)

// server answers as an API server that has one Deployment and one Memcached.
type server struct {
	stub
	memcached *cachev1.Memcached
}

func (s *server) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if mc, ok := into.(*cachev1.Memcached); ok {
		s.asked = append(s.asked, "get memcached")
		s.memcached.DeepCopyInto(mc)
		return nil
	}
	return s.stub.Get(ctx, key, into, options...)
}

func TestWhichDeploymentsWithoutAControllerAreOwned(t *testing.T) {
	applied := metav1.ManagedFieldsOperationApply
	managedBy := func(manager string, operation metav1.ManagedFieldsOperationType, fields string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.ManagedFields = []metav1.ManagedFieldsEntry{setBy(manager, operation, "", fields)}
		}
	}
	consents := func(to string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			managedBy("another", applied, otherHash)(d)
			d.Annotations = map[string]string{cachev1.AnnotationAdoptBy: to}
		}
	}
	ownedBy := func(owner metav1.OwnerReference, change func(*appsv1.Deployment)) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			change(d)
			d.OwnerReferences = []metav1.OwnerReference{owner}
		}
	}
	memcached := metav1.OwnerReference{APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached", Name: "cache", UID: "uid-1"}
	thing := metav1.OwnerReference{APIVersion: "v1", Kind: "Thing", Name: "one", UID: "uid-9"}
	const (
		refused = `Deployment "cache" already exists and `
		noOwner = refused + "has no owner; the operator did not change it. Fix: delete or rename it, give this Memcached another name, or " +
			"let the operator adopt it: kubectl -n team annotate deployment cache cache.example.com/adopt-by=cache"
		belongs = refused + "belongs to Thing one; the operator did not change it. Fix: delete or rename it, or give this Memcached another name"
	)
	tests := map[string]struct {
		there   func(*appsv1.Deployment)
		deleted bool // the Memcached was deleted since it was read
		result  Result
		why     string
	}{
		"the operator's, as after an orphaning delete": {
			there: managedBy(names.FieldOwner, applied, ownHash), result: Updated,
		},
		"the operator's, with an owner reference that is not a controller reference": {
			there: ownedBy(memcached, managedBy(names.FieldOwner, applied, ownHash)), result: Updated,
		},
		"the operator's, while the Memcached is being deleted": {
			there: managedBy(names.FieldOwner, applied, ownHash), deleted: true, result: Terminating,
			why: `Deployment "cache" was changed or replaced since it was read`,
		},
		"the operator's, and another owner's in the meantime": {
			there:  ownedBy(thing, managedBy(names.FieldOwner, applied, ownHash)),
			result: NotOwned, why: belongs,
		},
		"without an owner, with a hash that the operator does not own": {
			there: managedBy(names.FieldOwner, applied, otherHash), result: NotOwned,
			why: noOwner,
		},
		"without an owner, with a hash that the operator's name updated": {
			there:  managedBy(names.FieldOwner, metav1.ManagedFieldsOperationUpdate, ownHash),
			result: NotOwned, why: noOwner,
		},
		"one that allows the adoption": {there: consents("cache"), result: Adopted},
		"one that says so of another Memcached": {
			there: consents("other"), result: NotOwned,
			why: noOwner + " --overwrite",
		},
		"one that says so and has an owner": {
			there: ownedBy(thing, consents("cache")), result: NotOwned,
			why: belongs,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			there := liveAs(t, stamped(t, planned(t, nil)))
			there.OwnerReferences = nil
			tc.there(there)
			api := &server{stub: stub{there: there}, memcached: &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{UID: "uid-1"}}}
			if tc.deleted {
				api.memcached.DeletionTimestamp = new(metav1.Now())
			}
			cached := there.DeepCopy()
			cached.ManagedFields = nil

			got := NewSyncer(api, api, clientgoscheme.Scheme, nil).syncDeployment(t, cached)

			if diff := cmp.Diff([]any{tc.result, tc.why}, []any{got.Result, got.Why}); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAnEarlierMemcachedLeftBehindIsAdopted(t *testing.T) {
	there := liveAs(t, stamped(t, planned(t, nil)))
	there.OwnerReferences, there.Annotations[names.AnnotationAppliedHash] = nil, "of the earlier one"
	there.ManagedFields = []metav1.ManagedFieldsEntry{setBy(names.FieldOwner, metav1.ManagedFieldsOperationApply, "", ownHash)}
	api := &server{stub: stub{there: there}, memcached: &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{UID: "uid-1"}}}
	if got := NewSyncer(api, api, clientgoscheme.Scheme, nil).syncDeployment(t, there); got.Result != Adopted {
		t.Errorf("%s: %v", got.Result, got.Err)
	}
}

// TestAReplacedObjectIsNoErrorInTheSpec: if another object has replaced the one that was read, the API server refuses
// the uid as a field that can't change, and its further messages are about the new object.
func TestAReplacedObjectIsNoErrorInTheSpec(t *testing.T) {
	immutable := func(fields ...string) error {
		var errs field.ErrorList
		for _, name := range fields {
			errs = append(errs, field.Invalid(field.NewPath(name), "uid-2", "field is immutable"))
		}
		return apierrors.NewInvalid(observe.DeploymentKind.GroupKind(), "cache", errs)
	}
	deleted := apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "cache", nil)
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"}}
	kind := observe.DeploymentKind.GroupKind()
	actions := map[string]func(*Syncer, *appsv1.Deployment) Report{
		"another desired state": func(s *Syncer, d *appsv1.Deployment) Report {
			d.Annotations[names.AnnotationAppliedHash] = "former"
			return s.Sync(t.Context(), mc, snapshotOf(kind, d), []render.Object{rendered(t, planned(t, nil))})
		},
		"a drift": func(s *Syncer, d *appsv1.Deployment) Report {
			return s.Sync(t.Context(), mc, snapshotOf(kind, d), []render.Object{rendered(t, planned(t, nil))})
		},
		"an adoption": func(s *Syncer, d *appsv1.Deployment) Report {
			d.OwnerReferences, d.Annotations = nil, map[string]string{cachev1.AnnotationAdoptBy: "cache"}
			d.ManagedFields = []metav1.ManagedFieldsEntry{setBy("another", "Apply", "", otherHash)}
			return s.Sync(t.Context(), mc, snapshotOf(kind, d), []render.Object{rendered(t, planned(t, nil))})
		},
		"a pause": func(s *Syncer, d *appsv1.Deployment) Report { return s.Pause(t.Context(), mc, snapshotOf(kind, d)) },
	}
	answers := map[string]error{
		"with another uid":              immutable("metadata.uid"),
		"with another uid and selector": immutable("spec.selector", "metadata.uid"),
		"with another controller":       immutable("metadata.ownerReferences"),
		"that was deleted":              deleted,
	}
	for action, run := range actions {
		for sentence, answer := range answers {
			t.Run(action+" for an object "+sentence, func(t *testing.T) {
				cached, fresh := scaled(t)
				api := &server{stub: stub{there: fresh, applyErr: answer}}
				got := run(NewSyncer(api, api, clientgoscheme.Scheme, nil), cached)
				if got[0].Result != Terminating || got[0].RetryAfter != replacedRetry || got.Err() != nil || got.SpecRefused() {
					t.Errorf("%s, again after %s: %v", got[0].Result, got[0].RetryAfter, got.Err())
				}
			})
		}
	}
}

func snapshotOf(kind schema.GroupKind, child client.Object) observe.Snapshot {
	return observe.Snapshot{Name: "cache", Objects: map[observe.Key]client.Object{{GroupKind: kind, Name: "cache"}: child}}
}

func TestOnlyTheOperatorsPauseIsResumed(t *testing.T) {
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: manager, Operation: operation, Subresource: subresource}}
	}
	tests := map[string]struct {
		child   client.Object
		managed []metav1.ManagedFieldsEntry
		want    []string
	}{
		"of a Deployment":                                 {&appsv1.Deployment{}, entry(names.PauseOwner, "Apply", ""), []string{"apply"}},
		"of a Service, which has none":                    {&corev1.Service{}, entry(names.PauseOwner, "Apply", ""), nil},
		"not an update":                                   {&appsv1.Deployment{}, entry(names.PauseOwner, "Update", ""), nil},
		"not of a subresource, which would stay for ever": {&appsv1.Deployment{}, entry(names.PauseOwner, "Apply", "scale"), nil},
		"not another manager's":                           {&appsv1.Deployment{}, entry("another", "Apply", ""), nil},
		"not what an annotation says":                     {&appsv1.Deployment{}, nil, nil},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			tc.child.SetManagedFields(tc.managed)
			tc.child.SetAnnotations(map[string]string{"cache.example.com/rollout-held": "true"})
			api := &server{stub: stub{there: &appsv1.Deployment{}}}
			if _, err := NewSyncer(api, api, clientgoscheme.Scheme, nil).resume(t.Context(), tc.child); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, api.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFixOfAnOwnershipConflictNamesTheModeOfSlotsWhereItHelps(t *testing.T) {
	service := func(clusterIP string) render.Object {
		made := corev1ac.Service("cache-0", "team").WithSpec(corev1ac.ServiceSpec())
		if clusterIP != "" {
			made.Spec.WithClusterIP(clusterIP)
		}
		return render.Object{Configuration: made, Metadata: made.ObjectMetaApplyConfiguration}
	}
	ofDiscovery := service("")
	ofDiscovery.Configuration.(*corev1ac.ServiceApplyConfiguration).Spec.WithSelector(names.Selector("cache"))
	deployment := appsv1ac.Deployment("cache", "team")
	tests := map[string]struct {
		object render.Object
		helps  bool
	}{
		"a Service of one slot": {service(""), true},
		"that of discovery":     {ofDiscovery, false},
		"a headless Service":    {service(corev1.ClusterIPNone), false},
		"a Deployment": {
			render.Object{Configuration: deployment, Metadata: deployment.ObjectMetaApplyConfiguration}, false,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			outcome := notOwned(tc.object, "has no owner", "delete it")
			if helps := strings.HasSuffix(outcome.Why, "; or set spec.slots.mode to DNS"); helps != tc.helps {
				t.Errorf("%s", outcome.Why)
			}
		})
	}
}
