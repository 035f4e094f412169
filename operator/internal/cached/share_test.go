package cached

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

func amount(quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}
}

func TestAmountsAreShared(t *testing.T) {
	tests := map[string]struct {
		other  corev1.ResourceList
		shared bool
	}{
		"the same":                    {amount("64Mi"), true},
		"another amount":              {amount("65Mi"), false},
		"the same, written otherwise": {amount("67108864"), false},
		"of another resource":         {corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64Mi")}, false},
		"none":                        {corev1.ResourceList{}, false},
		"nothing at all":              {nil, false},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			var s sharedLists
			first, other := s.share(amount("64Mi")), s.share(tc.other)
			if shared := reflect.ValueOf(first).Pointer() == reflect.ValueOf(other).Pointer(); shared != tc.shared {
				t.Errorf("shared: %t, want %t", shared, tc.shared)
			}
			if diff := cmp.Diff(tc.other, other); diff != "" {
				t.Errorf("it became another (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsSharedIsBounded(t *testing.T) {
	var s sharedLists
	for i := range 2 * mostShared {
		s.share(amount(fmt.Sprintf("%dMi", i)))
	}
	if len(s.lists) != mostShared {
		t.Errorf("%d lists are shared, want %d", len(s.lists), mostShared)
	}
}

// FuzzATrimmedDeploymentIsTheSame: all is compared with what is wanted, or read.
func FuzzATrimmedDeploymentIsTheSame(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	f.Fuzz(func(t *testing.T, data []byte) {
		deployment := &appsv1.Deployment{}
		arbitrary.Filler(data).Fill(deployment)
		want := deployment.DeepCopy()
		want.ManagedFields = nil
		got, err := TrimObject(deployment)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("trimmed (-want +got):\n%s", diff)
		}
	})
}

func TestTrimmedObjects(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "tool"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DesiredHealthy: 2},
	}
	deleted := cache.DeletedFinalStateUnknown{Key: "ns/cache"}
	pause := metav1.ManagedFieldsEntry{Manager: names.PauseOwner, Operation: metav1.ManagedFieldsOperationApply}
	full := pause
	full.APIVersion, full.Time, full.FieldsV1 = "apps/v1", new(metav1.Now()), metav1.NewFieldsV1(`{"f:spec":{"f:paused":{}}}`)
	managed := []metav1.ManagedFieldsEntry{{Manager: "tool", Operation: metav1.ManagedFieldsOperationApply}, full}
	for sentence, tc := range map[string]struct{ child, want any }{
		"a budget without its status": {budget, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "cache"}}},
		"a deletion":                  {deleted, deleted},
		"a Deployment keeps only the record of a pause of its managed fields": {
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}},
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{pause}}},
		},
		"a Deployment that is not paused keeps none": {
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed[:1]}}, &appsv1.Deployment{},
		},
		"a Service, which cannot be paused, keeps none": {
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}}, &corev1.Service{},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := TrimObject(tc.child)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("trimmed (-want +got):\n%s", diff)
			}
		})
	}
}
