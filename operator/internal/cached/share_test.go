package cached

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// decoded is a Deployment as the cache gets it: a new copy of everything, with its own texts.
func decoded(t *testing.T, name string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app.kubernetes.io/instance": name}},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "memcached", Args: []string{"--port=11211"},
			Resources: corev1.ResourceRequirements{Limits: amount("64Mi")},
		}}}}},
	}
	for _, change := range changes {
		change(deployment)
	}
	content, err := deployment.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	copied := &appsv1.Deployment{}
	if err := copied.Unmarshal(content); err != nil {
		t.Fatal(err)
	}
	return copied
}

func trimmed(t *testing.T, deployment *appsv1.Deployment) *appsv1.Deployment {
	t.Helper()
	got, err := TrimObject(deployment)
	if err != nil {
		t.Fatal(err)
	}
	return got.(*appsv1.Deployment)
}

func amount(quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}
}

func TestEqualPartsOfDeploymentsAreStoredOnce(t *testing.T) {
	const containers, resources = "containers", "resources"
	container := func(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[0] }
	limit := func(quantity string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { container(d).Resources.Limits = amount(quantity) }
	}
	for sentence, tc := range map[string]struct {
		change func(*appsv1.Deployment)
		want   []string
	}{
		"of the same Pods":        {func(*appsv1.Deployment) {}, []string{containers, resources}},
		"with another argument":   {func(d *appsv1.Deployment) { container(d).Args[0] = "--port=1" }, []string{resources}},
		"with another amount":     {limit("65Mi"), nil},
		"with an amount in bytes": {limit("67108864"), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			first, other := trimmed(t, decoded(t, "first")), decoded(t, "other", tc.change)
			want := other.DeepCopy()
			trimmed(t, other)
			if diff := cmp.Diff(want, other); diff != "" {
				t.Errorf("it became another (-want +got):\n%s", diff)
			}
			var got []string
			if container(first) == container(other) {
				got = append(got, containers)
			}
			limits := func(d *appsv1.Deployment) uintptr { return reflect.ValueOf(container(d).Resources.Limits).Pointer() }
			if limits(first) == limits(other) {
				got = append(got, resources)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("stored once (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLabelsOfACacheAreStoredOnce(t *testing.T) {
	deployment := trimmed(t, decoded(t, "cache"))
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(deployment.Labels)}}
	if _, err := TrimObject(service); err != nil {
		t.Fatal(err)
	}
	if reflect.ValueOf(deployment.Labels).Pointer() != reflect.ValueOf(service.Labels).Pointer() {
		t.Error("Deployment and Service have a copy each")
	}
	if unsafe.StringData(deployment.Name) != unsafe.StringData(deployment.Labels["app.kubernetes.io/instance"]) {
		t.Error("the label has a copy of the name")
	}
}

func TestAPodWithMoreLabelsChangesNoOther(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{names.LabelInstance: "cache", appsv1.DefaultDeploymentUniqueLabelKey: "1"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "cache-1", Controller: new(true),
			}},
		}}
		change(pod)
		got, err := TrimPod(pod)
		if err != nil {
			t.Fatal(err)
		}
		return got.(*corev1.Pod)
	}
	plain := pod(func(*corev1.Pod) {})
	pod(func(p *corev1.Pod) { p.Spec.ReadinessGates = onlyGate })
	again := pod(func(*corev1.Pod) {})
	for _, got := range []*corev1.Pod{plain, again} {
		if diff := cmp.Diff(map[string]string{names.LabelInstance: "cache"}, got.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
	}
}

func TestLargeContentsAreNotShared(t *testing.T) {
	many := map[string]string{}
	for i := range 50 { // The texts are short, but not the map.
		many[fmt.Sprint(i)] = ""
	}
	for sentence, values := range map[string]map[string]string{
		"a long text": {"key": strings.Repeat("x", longest/2)}, "many keys": many,
	} {
		if got := shareMap(values); reflect.ValueOf(got).Pointer() != reflect.ValueOf(values).Pointer() {
			t.Errorf("%s: the map is copied", sentence)
		}
		if got := shareMap(maps.Clone(values)); reflect.ValueOf(got).Pointer() == reflect.ValueOf(values).Pointer() {
			t.Errorf("%s: the map is kept", sentence)
		}
	}
	if shareMap(nil) != nil {
		t.Error("no map became one")
	}
	argument := func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Args[0] = strings.Repeat("x", longest)
	}
	first, other := trimmed(t, decoded(t, "first", argument)), trimmed(t, decoded(t, "other", argument))
	if &first.Spec.Template.Spec.Containers[0] == &other.Spec.Template.Spec.Containers[0] {
		t.Error("large containers are kept")
	}
}

// TestADeploymentIsTrimmedAgainWhileAnotherIsRead finds writes into shared parts if it runs with -race: informers trim
// the objects of a stream twice, and other Memcacheds may be reconciled in the meantime.
func TestADeploymentIsTrimmedAgainWhileAnotherIsRead(t *testing.T) {
	first, other := trimmed(t, decoded(t, "first")), trimmed(t, decoded(t, "other"))
	before := reflect.ValueOf(first.Spec.Template.Spec.Containers[0].Resources.Limits).Pointer()
	containers.values, resources.values = nil, nil // The pools have started again in the meantime.
	var work sync.WaitGroup
	work.Go(func() { trimmed(t, other) })
	work.Go(func() { _ = first.DeepCopy() })
	work.Wait()
	if reflect.ValueOf(first.Spec.Template.Spec.Containers[0].Resources.Limits).Pointer() != before {
		t.Error("trimming a Deployment again changed another one")
	}
}

func TestWhatIsSharedIsBounded(t *testing.T) {
	p := pool[string, string]{most: 3}
	for i := range 8 {
		name := fmt.Sprint(i)
		for range 2 {
			if got := p.share(name, func() string { return name }); got != name {
				t.Errorf("%s became %s", name, got)
			}
		}
		if want := i%p.most + 1; len(p.values) != want {
			t.Fatalf("%d values are shared after the number %d, want %d", len(p.values), i, want)
		}
	}
}

func TestATrimmedMemcachedLosesOnlyItsManagedFields(t *testing.T) {
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{
			Name: "cache", Annotations: map[string]string{"note": strings.Repeat("x", 2000)},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "tool"}},
		},
		Status: cachev1.MemcachedStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Message: "It is."}}},
	}
	want := mc.DeepCopy()
	want.ManagedFields = nil
	got, err := TrimMemcached(mc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trimmed (-want +got):\n%s", diff)
	}
}

// FuzzATrimmedDeploymentIsTheSame checks that trimming changes no field of a Deployment except the managed fields,
// because the operator reads all other fields, or compares them with the desired Deployment.
func FuzzATrimmedDeploymentIsTheSame(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	f.Fuzz(func(t *testing.T, data []byte) {
		deployment := &appsv1.Deployment{}
		arbitrary.Filler(data).Fill(deployment)
		content, err := deployment.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		deployment = &appsv1.Deployment{} // As the API server sends it: encoded, an empty list is the same as a missing one.
		if err := deployment.Unmarshal(content); err != nil {
			t.Fatal(err)
		}
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
		"an object whose kind has nothing to drop keeps no managed fields": {
			&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}}, &discoveryv1.EndpointSlice{},
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
