package integration

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const (
	memcachedImage = "docker.io/library/memcached:1.6.45"
	otherImage     = "registry.example.com/other:1"
)

// times matches the times in managed fields.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// unordered compares requests whatever their order.
var unordered = cmpopts.SortSlices(strings.Compare)

// ofManagedObjects removes the writes of the status from requests.
func ofManagedObjects(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool { return r == "patch memcacheds/status" })
}

// ofImage returns the part of a Deployment that sets memcached's image.
func ofImage(image string) string {
	return `{"spec":{"template":{"spec":{"containers":[{"name":"memcached","image":"` + image + `"}]}}}}`
}

// changedBy changes an object by an update of this field manager.
func (w *world) changedBy(manager string, object client.Object, patch string) {
	w.t.Helper()
	get(w, "cache", object)
	raw := client.RawPatch(types.StrategicMergePatchType, []byte(patch))
	w.Expect(cluster.Patch(w.ctx, object, raw, client.FieldOwner(manager))).To(gomega.Succeed())
}

// appliedBy applies a part of the Deployment by a forced server-side apply.
func (w *world) appliedBy(manager, part string) {
	w.t.Helper()
	applied := `{"apiVersion":"apps/v1","kind":"Deployment",` + strings.TrimPrefix(part, "{")
	raw := client.RawPatch(types.ApplyPatchType, []byte(applied))
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "cache"}}
	w.Expect(cluster.Patch(w.ctx, object, raw, client.FieldOwner(manager), client.ForceOwnership)).To(gomega.Succeed())
}

// notes returns the notes of the events with a reason, each time replaced by T.
func (w *world) notes(reason string) []string {
	w.t.Helper()
	list := &eventsv1.EventList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace))).To(gomega.Succeed())
	var notes []string
	for _, event := range list.Items {
		if event.Reason == reason {
			notes = append(notes, times.ReplaceAllString(event.Note, "T"))
		}
	}
	return notes
}

func TestDriftIsReportedWithItsFieldManagerAndCostsOneReadAndOneWrite(t *testing.T) {
	const field = `.spec.template.spec.containers[name="memcached"]`
	tests := map[string]struct {
		damage func(w *world)
		child  string
		want   string
	}{
		"kubectl edit": {
			damage: func(w *world) { w.changedBy("kubectl-edit", &appsv1.Deployment{}, ofImage(otherImage)) },
			want: field + `.image "` + memcachedImage + `" -> "` + otherImage + `" by "kubectl-edit" (Update, T). ` +
				`Fix: change spec.image of the Memcached instead of the Deployment`,
		},
		"kubectl scale": {
			damage: func(w *world) {
				scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
				w.Expect(cluster.SubResource("scale").Update(w.ctx, w.deployment("cache"),
					client.WithSubResourceBody(scale), client.FieldOwner("kubectl"))).To(gomega.Succeed())
			},
			want: `.spec.replicas 2 -> 7 by "kubectl" (Update of scale, no time recorded). Fix: change spec.size of the Memcached instead of ` +
				`the Deployment`,
		},
		"Argo CD that has the Deployment in an Application": {
			damage: func(w *world) { w.appliedBy("argocd-controller", ofImage(otherImage)) },
			want: field + `.image "` + memcachedImage + `" -> "` + otherImage + `" by "argocd-controller" (Apply, T). ` +
				`Fix: Argo CD manages the Deployment directly: remove the Deployment from the Application, and keep the Memcached in the Application`,
		},
		"another client that sizes containers": {
			damage: func(w *world) {
				w.changedBy("vpa", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[
					{"name":"memcached","resources":{"requests":{"cpu":"2"}}}]}}}}`)
			},
			want: field + `.resources.requests.cpu "50m" -> "2" by "vpa" (Update, T). ` +
				`Fix: an autoscaler sets container resources: set spec.resources of the Memcached, or exclude the Deployment from the autoscaler`,
		},
		"a label taken away by another client that leaves no trace": {
			damage: func(w *world) {
				w.changedBy("kubectl-label", &appsv1.Deployment{}, `{"metadata":{"labels":{"memcached_cr":null}}}`)
			},
			want: `.metadata.labels.memcached_cr "cache" -> removed by an unrecorded client. ` +
				`Fix: find the client in the audit log of the API server`,
		},
		"a label of the Service taken away by another client that also left something": {
			damage: func(w *world) {
				w.changedBy("tool", &corev1.Service{}, `{"metadata":{"labels":{"app":null,"unowned":"yes"}}}`)
			},
			child: "Service",
			want: `.metadata.labels.app "memcached" -> removed; the object was last written by "tool" (Update, T). ` +
				`Fix: stop "tool" from setting this field, or set the Memcached to the same value`,
		},
		"another number for the port of the Service": {
			damage: func(w *world) {
				w.changedBy("kubectl-edit", &corev1.Service{}, `{"spec":{"ports":[{"$patch":"replace"},
					{"name":"memcached","port":11212,"protocol":"TCP","targetPort":"memcached"}]}}`)
			},
			child: "Service",
			want: `.spec.ports[port=11211,protocol="TCP"] {"name":"memcached","port":11211,"protocol":"TCP","targetPort":"memcached"} -> ` +
				`{"name":"memcached","port":11212,"protocol":"TCP","targetPort":"memcached"} by "kubectl-edit" (Update, T). ` +
				`Fix: change the Memcached instead of the Service`,
		},
	}
	extra := map[string][]string{ // requests in addition to one read and one write
		"a label of the Service taken away by another client that also left something": {"patch services (failed)"},
		"another number for the port of the Service":                                   {"patch services", "patch services (failed)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.memcached("cache", 2)
			w.ready("cache")
			spent := len(w.quiet())
			if tc.child == "" {
				tc.child = "Deployment"
			}

			tc.damage(w)

			var notes []string
			w.Eventually(func() []string { notes = w.notes("DriftCorrected"); return notes }).Should(gomega.HaveLen(1))
			if diff := cmp.Diff(tc.child+` "cache": drift reverted: `+tc.want, notes[0]); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			w.ready("cache")
			resource := strings.ToLower(tc.child) + "s"
			want := append([]string{"get " + resource, "patch " + resource}, extra[name]...)
			if diff := cmp.Diff(want, ofManagedObjects(w.quiet()[spent:]), unordered); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDriftInTheKeyOfAListItemIsReverted: for server-side apply, a list item with a changed key is another item,
// so both would stay.
func TestDriftInTheKeyOfAListItemIsReverted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	unowned := corev1.ServicePort{Name: "unowned", Port: 9150, Protocol: corev1.ProtocolTCP}
	damage := func(manager string) {
		service := get(w, "cache", &corev1.Service{})
		owned := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == "memcached" })
		service.Spec.Ports[owned].Port = 11212
		if len(service.Spec.Ports) == 1 {
			service.Spec.Ports = append(service.Spec.Ports, unowned)
		}
		w.Expect(cluster.Update(w.ctx, service, client.FieldOwner(manager))).To(gomega.Succeed())
	}
	healed := func() {
		t.Helper()
		service := eventually(w, "cache", &corev1.Service{}, func(s *corev1.Service) bool {
			return len(s.Spec.Ports) == 2 && s.Spec.Ports[0].Port+s.Spec.Ports[1].Port == 11211+unowned.Port
		})
		for _, entry := range service.ManagedFields {
			if entry.Manager == "memcached-operator" {
				w.Expect(entry.Operation).To(gomega.Equal(metav1.ManagedFieldsOperationApply), "nothing is owned but by applying")
			}
		}
		w.ready("cache")
	}
	damage("kubectl-edit")
	healed()

	w.patchSpec(`{"suspend":true}`)
	eventually(w, "cache", &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return mc.Status.ObservedGeneration == mc.Generation
	})
	damage("kubectl-edit")
	w.patchSpec(`{"suspend":false,"service":{"metadata":{"labels":{"team":"shop"}}}}`)
	healed()
	w.Expect(get(w, "cache", &corev1.Service{}).Labels).To(gomega.HaveKeyWithValue("team", "shop"))

	w.changedBy("kubectl-edit", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[{"name":"memcached","ports":[
		{"$patch":"replace"},{"name":"memcached","containerPort":11212,"protocol":"TCP"}]}]}}}}`)
	eventually(w, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
		ports := d.Spec.Template.Spec.Containers[0].Ports
		return len(ports) == 1 && ports[0].ContainerPort == 11211
	})
	w.ready("cache")
}

// TestEachDriftHasItsOwnEvent: Kubernetes' event library would merge similar events into one, with the text of the
// first.
func TestEachDriftHasItsOwnEvent(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	for _, manager := range []string{"one", "two"} {
		w.changedBy(manager, &corev1.Service{}, `{"metadata":{"labels":{"app.kubernetes.io/name":"`+manager+`"}}}`)
		w.Eventually(func() string { return strings.Join(w.notes("DriftCorrected"), "\n") }).Should(
			gomega.ContainSubstring(`-> "` + manager + `" by "` + manager + `" (Update, T)`))
	}
}

// TestDriftToAnotherHandlerIsReverted: a hook may have only one handler, and server-side apply alone would keep both.
func TestDriftToAnotherHandlerIsReverted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.changedBy("kubectl-edit", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[
		{"name":"memcached","lifecycle":{"preStop":{"sleep":null,"exec":{"command":["true"]}}}}]}}}}`)
	eventually(w, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
		hook := d.Spec.Template.Spec.Containers[0].Lifecycle.PreStop
		return hook != nil && hook.Sleep != nil && hook.Exec == nil
	})
	w.ready("cache")
	w.Eventually(func() []string { return w.notes("DriftCorrected") }).Should(
		gomega.ContainElement(gomega.ContainSubstring(".lifecycle.preStop.sleep")))
}
