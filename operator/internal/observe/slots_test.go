package observe

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// onePod is an API server with one Pod, or none.
type onePod struct {
	client.Reader
	pod *corev1.Pod
	err error
}

func (s onePod) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch {
	case s.err != nil:
		return s.err
	case s.pod == nil || s.pod.Name != key.Name:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key.Name)
	}
	s.pod.DeepCopyInto(object.(*corev1.Pod))
	return nil
}

func TestAHolderThatIsNotInTheCacheIsReadFromTheAPIServer(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := gatedPod()
		change(pod)
		return pod
	}
	tests := map[string]struct {
		known   map[string]string
		live    onePod
		want    []string
		wantErr bool
	}{
		"a holder that the cache does not have": {live: onePod{pod: gatedPod()}, want: []string{"uid-a"}},
		"a holder that is in the cache":         {known: map[string]string{"uid-a": "1"}, live: onePod{err: errors.New("asked")}},
		"a holder that was deleted":             {},
		"another Pod of its name":               {live: onePod{pod: pod(func(p *corev1.Pod) { p.UID = "uid-b" })}},
		"a Pod of another cache":                {live: onePod{pod: pod(func(p *corev1.Pod) { p.Labels[names.LabelInstance] = "other" })}},
		"an API server that does not answer":    {live: onePod{err: errors.New("no answer")}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			snapshot := &Snapshot{Versions: map[string]string{}, Slots: plan.CurrentSlots{
				Endpoints: []slots.Endpoint{{Slot: 1, Pod: "cache-7f-a", UID: "uid-a"}},
			}}
			maps.Copy(snapshot.Versions, tc.known)
			collector := Collector{Live: tc.live}
			mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cache"}}
			if err := collector.addMissingHolders(t.Context(), mc, snapshot); (err != nil) != tc.wantErr {
				t.Errorf("error %v", err)
			}
			var got []string
			for _, pod := range snapshot.Slots.Pods {
				got = append(got, pod.UID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTheRecordOfSlotsSays(t *testing.T) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cache", UID: "uid-1"}}
	owner := func(uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: "Memcached", Name: "cache", UID: uid, Controller: new(true)}}
	}
	applied := map[string]string{names.AnnotationAppliedHash: "0123456789abcdef", names.AnnotationSlots: "4"}
	tests := map[string]struct {
		record metav1.ObjectMeta
		holds  int
		listed int
		family corev1.IPFamily
	}{
		"of the cache": {metav1.ObjectMeta{OwnerReferences: owner("uid-1"), Annotations: applied}, 1, 4, corev1.IPv4Protocol},
		"of an earlier cache that was deleted without its objects": {
			metav1.ObjectMeta{Annotations: applied}, 1, 4, corev1.IPv4Protocol,
		},
		"of another cache":  {metav1.ObjectMeta{OwnerReferences: owner("uid-2"), Annotations: applied}, 0, 0, ""},
		"of another client": {metav1.ObjectMeta{}, 0, 0, ""},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			slice := &discoveryv1.EndpointSlice{ObjectMeta: tc.record, Endpoints: []discoveryv1.Endpoint{{
				Hostname: new("cache-0"), Addresses: []string{"10.0.0.1"}, TargetRef: &corev1.ObjectReference{Name: "cache-7f-a"},
			}}}
			key := Key{SliceKind.GroupKind(), names.EndpointSliceName(names.SlotService("cache"), string(corev1.IPv4Protocol))}
			snapshot := Snapshot{Name: "cache", Objects: map[Key]client.Object{key: slice}}
			holds, listed, family := snapshot.holders(mc)
			if len(holds) != tc.holds || listed != tc.listed || family != tc.family {
				t.Errorf("%d Pods, %d slots, family %q", len(holds), listed, family)
			}
		})
	}
}

func TestTheRecordOfTheMemcachedComesBeforeOneThatADeletionLeft(t *testing.T) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "uid-1"}}
	record := func(slots string, owners ...metav1.OwnerReference) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
			OwnerReferences: owners,
			Annotations:     map[string]string{names.AnnotationAppliedHash: "0123456789abcdef", names.AnnotationSlots: slots},
		}}
	}
	of := func(family corev1.IPFamily) Key {
		return Key{SliceKind.GroupKind(), names.EndpointSliceName(names.SlotService("cache"), string(family))}
	}
	snapshot := Snapshot{Name: "cache", Objects: map[Key]client.Object{
		of(corev1.IPv4Protocol): record("4"),
		of(corev1.IPv6Protocol): record("3", metav1.OwnerReference{Kind: "Memcached", UID: "uid-1", Controller: new(true)}),
	}}
	if _, listed, family := snapshot.holders(mc); listed != 3 || family != corev1.IPv6Protocol {
		t.Errorf("%d slots, family %q", listed, family)
	}
}

// TestTheSlicesOfSlotsSayTheFamilyWithoutTheRecord: another client may have changed the label by which the record is
// found.
func TestTheSlicesOfSlotsSayTheFamilyWithoutTheRecord(t *testing.T) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "uid-1"}}
	for uid, want := range map[types.UID]corev1.IPFamily{"uid-1": corev1.IPv6Protocol, "uid-2": ""} {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
				{Kind: "Memcached", Name: "cache", UID: uid, Controller: new(true)},
			}},
			AddressType: discoveryv1.AddressTypeIPv6,
		}
		key := Key{SliceKind.GroupKind(), names.EndpointSliceName(names.SlotName("cache", 0), string(corev1.IPv6Protocol))}
		if _, _, got := (Snapshot{Name: "cache", Objects: map[Key]client.Object{key: slice}}).holders(mc); got != want {
			t.Errorf("of a slice of the Memcached %s: family %q, want %q", uid, got, want)
		}
	}
}

func TestAnInstructionThatCanNotBeDecodedIsUnknown(t *testing.T) {
	for annotation, want := range map[string]instruction.Role{
		"":                                    instruction.None,
		`{"role":"serve","slot":"cache-0"}`:   instruction.Serve,
		`{"role":"other","slot":"cache-0"}`:   slots.Unknown,
		`{"role":"serve"`:                     slots.Unknown,
		`{"role":"receive","slot":"cache-0"}`: slots.Unknown,
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{names.AnnotationHandoff: annotation}},
			Spec:       corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: names.HasSlot}}},
		}
		if got := slotPod(pod).Instruction.Role; got != want {
			t.Errorf("%s: role %q, want %q", annotation, got, want)
		}
	}
}
