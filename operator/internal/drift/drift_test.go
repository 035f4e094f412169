package drift

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// noon is when the operator wrote last.
var noon = time.Date(2026, 8, 30, 12, 0, 0, 0, time.UTC)

// written returns an entry of managed fields, written this long after noon.
func written(manager, how string, after time.Duration, fields string) metav1.ManagedFieldsEntry {
	operation, subresource, _ := strings.Cut(how, " of ")
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource,
		Time: &metav1.Time{Time: noon.Add(after)}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func byUs(fields string) metav1.ManagedFieldsEntry {
	return written("memcached-operator", "Apply", 0, fields)
}

const (
	labels  = `{"f:metadata":{"f:labels":{"f:app":{}}}}`
	anyPort = `{"f:spec":{"f:ports":{"k:{\"port\":%d,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}`
)

// wantedService is the desired Service; liveService is the same in the cluster.
func wantedService() *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service("cache", "team").
		WithLabels(map[string]string{"app": "memcached"}).
		WithAnnotations(map[string]string{"cache.example.com/applied-hash": "1f2e"}).
		WithSpec(corev1ac.ServiceSpec().WithClusterIP("None").WithPorts(corev1ac.ServicePort().
			WithName("memcached").WithPort(11211).WithProtocol("TCP").WithTargetPort(intstr.FromString("memcached"))))
}

func liveService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: "cache", Namespace: "team", Labels: map[string]string{"app": "memcached"},
			Annotations: map[string]string{"cache.example.com/applied-hash": "1f2e"},
		},
		Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{
			{Name: "memcached", Port: 11211, Protocol: "TCP", TargetPort: intstr.FromString("memcached")},
		}},
	}
}

var (
	app  = fieldpath.MakePathOrDie("metadata", "labels", "app")
	hash = fieldpath.MakePathOrDie("metadata", "annotations", "cache.example.com/applied-hash")
	port = fieldpath.MakePathOrDie("spec", "ports", fieldpath.KeyByFields("port", 11211, "protocol", "TCP"))
)

func TestDriftNamesTheFieldAndItsManager(t *testing.T) {
	relabeled := func(s *corev1.Service) { s.Labels["app"] = "other" }
	unlabeled := func(s *corev1.Service) { s.Labels = nil }
	tests := map[string]struct {
		damage  func(*corev1.Service)
		changed []fieldpath.Path
		managed []metav1.ManagedFieldsEntry
		want    string
	}{
		"a field that one manager owns": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{byUs(`{}`), written("tool", "Update", time.Second, labels)},
			want:    `.metadata.labels.app "memcached" -> "other" by "tool" (Update, 2026-08-30T12:00:01Z)`,
		},
		"a field that two managers own belongs to the later one": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{
				written("first", "Update", time.Second, labels), written("second", "Apply", time.Minute, labels),
			},
			want: `.metadata.labels.app "memcached" -> "other" by "second" (Apply, 2026-08-30T12:01:00Z)`,
		},
		"a field that the operator owns, too, belongs to the other one": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{written("tool", "Update", -time.Hour, labels), byUs(labels)},
			want:    `.metadata.labels.app "memcached" -> "other" by "tool" (Update, 2026-08-30T11:00:00Z)`,
		},
		"a field that the operator owns, too, and is listed first": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{byUs(labels), written("tool", "Update", -time.Hour, labels)},
			want:    `.metadata.labels.app "memcached" -> "other" by "tool" (Update, 2026-08-30T11:00:00Z)`,
		},
		"a field that only the operator owns": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{byUs(labels)},
			want:    `.metadata.labels.app "memcached" -> "other" by "memcached-operator" (Apply, 2026-08-30T12:00:00Z)`,
		},
		"a field without an owner": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{byUs(`{}`), written("tool", "Update", time.Second, `{}`)},
			want:    `.metadata.labels.app "memcached" -> "other" by an unrecorded client`,
		},
		"what cannot be read is left out": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{{Manager: "empty"}, written("broken", "Update", 0, `{"f:`)},
			want:    `.metadata.labels.app "memcached" -> "other" by an unrecorded client`,
		},
		"an entry without a time": {
			damage: relabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{{
				Manager: "tool", Operation: "Update", FieldsV1: metav1.NewFieldsV1(labels),
			}},
			want: `.metadata.labels.app "memcached" -> "other" by "tool" (Update, no time recorded)`,
		},
		"a field that was removed, and one manager who wrote since": {
			damage: unlabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{
				byUs(`{}`), written("tool", "Update", time.Second, `{}`), written("before", "Update", -time.Second, `{}`),
				written("kube-controller-manager", "Update of status", time.Minute, `{}`),
			},
			want: `.metadata.labels {"app":"memcached"} -> removed; the object was last written by ` +
				`"tool" (Update, 2026-08-30T12:00:01Z)`,
		},
		"a field that was removed, and no client has written since": {
			damage: unlabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{byUs(`{}`), written("before", "Update", -time.Second, `{}`)},
			want:    `.metadata.labels {"app":"memcached"} -> removed by an unrecorded client`,
		},
		"a field that was removed, and two who wrote since": {
			damage: unlabeled, changed: []fieldpath.Path{app},
			managed: []metav1.ManagedFieldsEntry{
				byUs(`{}`), written("one", "Update", time.Second, `{}`), written("two", "Update", time.Second, `{}`),
			},
			want: `.metadata.labels {"app":"memcached"} -> removed by an unrecorded client`,
		},
		"a removed list item is reported as a whole": {
			damage:  func(s *corev1.Service) { s.Spec.Ports = nil },
			changed: []fieldpath.Path{append(port.Copy(), name("name")), append(port.Copy(), name("port"))},
			managed: []metav1.ManagedFieldsEntry{byUs(`{}`)},
			want: `.spec.ports [{"name":"memcached","port":11211,"protocol":"TCP","targetPort":"memcached"}] ` +
				`-> removed by an unrecorded client`,
		},
		"a list item with another key": {
			damage:  func(s *corev1.Service) { s.Spec.Ports[0].Port = 11212 },
			changed: []fieldpath.Path{append(port.Copy(), name("name")), append(port.Copy(), name("port"))},
			managed: []metav1.ManagedFieldsEntry{byUs(`{}`), written("tool", "Update", time.Second, fmt.Sprintf(anyPort, 11212))},
			want: `.spec.ports[port=11211,protocol="TCP"] {"name":"memcached","port":11211,"protocol":"TCP","targetPort":"memcached"} -> ` +
				`{"name":"memcached","port":11212,"protocol":"TCP","targetPort":"memcached"} by "tool" (Update, 2026-08-30T12:00:01Z)`,
		},
		"an own annotation is not reported with other fields": {
			damage: func(s *corev1.Service) { relabeled(s); s.Annotations = nil }, changed: []fieldpath.Path{hash, app},
			managed: []metav1.ManagedFieldsEntry{written("tool", "Update", time.Second, labels)},
			want:    `.metadata.labels.app "memcached" -> "other" by "tool" (Update, 2026-08-30T12:00:01Z)`,
		},
		"an own annotation alone": {
			damage:  func(s *corev1.Service) { s.Annotations["cache.example.com/applied-hash"] = "x" },
			changed: []fieldpath.Path{hash},
			want: `.metadata.annotations.cache.example.com/applied-hash (an annotation of the operator) -> (an annotation of the operator) ` +
				`by an unrecorded client`,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			live := liveService()
			tc.damage(live)
			live.ManagedFields = tc.managed
			drifts, err := Explain(live, wantedService(), fieldpath.NewSet(tc.changed...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, Describe(drifts)); diff != "" {
				t.Errorf("in words (-want +got):\n%s", diff)
			}
		})
	}
}

func name(field string) fieldpath.PathElement { return fieldpath.FieldNameElement(field) }

func TestReplacements(t *testing.T) {
	second := corev1.ServicePort{Name: "second", Port: 11213, Protocol: "TCP"}
	tests := map[string]struct {
		damage func(*corev1.Service)
		want   []string
	}{
		"a port with another number":       {func(s *corev1.Service) { s.Spec.Ports[0].Port = 11212 }, []string{"/spec/ports/0"}},
		"a port with another protocol too": {func(s *corev1.Service) { s.Spec.Ports[0].Protocol = "UDP" }, []string{"/spec/ports/0"}},
		"behind a port of another client": {
			func(s *corev1.Service) {
				s.Spec.Ports[0].Port = 11212
				s.Spec.Ports = append([]corev1.ServicePort{second}, s.Spec.Ports...)
			},
			[]string{"/spec/ports/1"},
		},
		"a port of another client instead of the owned one": {func(s *corev1.Service) { s.Spec.Ports[0] = second }, nil},
		"no port at all":         {func(s *corev1.Service) { s.Spec.Ports = nil }, nil},
		"the owned one, changed": {func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromInt32(1) }, nil},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			live := liveService()
			tc.damage(live)
			replacements, err := Replacements(live, wantedService(), fieldpath.NewSet(append(port.Copy(), name("targetPort"))))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, replacements); diff != "" {
				t.Errorf("replacements (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFieldThatExcludesAnOwnedOneIsAReplacement(t *testing.T) {
	wanted := policyv1ac.PodDisruptionBudget("cache", "team").
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().WithMaxUnavailable(intstr.FromInt32(1)))
	limit := fieldpath.MakePathOrDie("spec", "maxUnavailable")
	tests := map[string]struct {
		live policyv1.PodDisruptionBudgetSpec
		want []string
	}{
		"instead of the owned field":             {policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1))}, []string{"/spec/minAvailable"}},
		"not another value of the owned field":   {policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(2))}, nil},
		"not if the owned field is only missing": {policyv1.PodDisruptionBudgetSpec{}, nil},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			replacements, err := Replacements(&policyv1.PodDisruptionBudget{Spec: tc.live}, wanted, fieldpath.NewSet(limit))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, replacements); diff != "" {
				t.Errorf("replacements (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzReadingManagedFields: a client that writes an object can write any JSON into its managed fields.
func FuzzReadingManagedFields(f *testing.F) {
	for _, seed := range []string{labels, fmt.Sprintf(anyPort, 11211), `{"k:{":{}}`, `{"v:1":{},"i:0":{"f:":[]}}`, `{`, `null`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, fields []byte) {
		live := liveService()
		live.Labels["app"], live.Spec.Ports[0].Port = "other", 11212
		live.ManagedFields = []metav1.ManagedFieldsEntry{byUs(string(fields)), written("tool", "Update", 0, string(fields))}
		drifts, err := Explain(live, wantedService(), fieldpath.NewSet(app, port, hash))
		if err != nil || len(drifts) != 2 {
			t.Fatalf("%d drifts, %v", len(drifts), err)
		}
		if Describe(drifts) == "" || Fixes("Service", drifts) == "" {
			t.Error("no words")
		}
	})
}
