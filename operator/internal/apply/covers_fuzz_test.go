package apply

import (
	"encoding/json"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// FuzzWhatIsCoveredDoesNotDiffer checks that the library finds no difference if covers is sure that there is none, and
// that covers is sure after an object has just been applied. The desired objects are those of a plan, and arbitrary
// ones. Then the live or the desired object is changed.
func FuzzWhatIsCoveredDoesNotDiffer(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	known := newSchemas(clientgoscheme.Scheme)
	defaults := plan.Defaults{Revisions: render.Revisions(), Image: "memcached:1", AgentImage: "agent:1", Platform: plan.Kubernetes}
	f.Fuzz(func(t *testing.T, data []byte) {
		filler := arbitrary.Filler(data)
		p, planned := decide(arbitrary.Memcached(filler), plan.Current{SecretsUsable: true}, defaults)
		if !planned {
			return
		}
		for _, object := range render.Objects(p.Plan, p.template, nil) {
			kind := known[object.GroupKind]
			live := served(t, object)
			isSureOfTheSame(t, kind, object.Configuration, live)
			arbitrary.Change(filler, live)
			isSureOnlyOfTheSame(t, kind, object.Configuration, live)
			live = served(t, object)
			arbitrary.Change(filler, object.Configuration)
			isSureOnlyOfTheSame(t, kind, object.Configuration, live)
			live = served(t, object)
			arbitrary.Change(filler, live)
			isSureOnlyOfTheSame(t, kind, object.Configuration, live)

			anything := reflect.New(reflect.TypeOf(object.Configuration).Elem()).Interface().(runtime.ApplyConfiguration)
			filler.Fill(anything)
			live = stored(t, anything, observe.New(object.GroupKind))
			isSureOnlyOfTheSame(t, kind, anything, live)
			arbitrary.Change(filler, live)
			isSureOnlyOfTheSame(t, kind, anything, live)
		}
	})
}

func isSureOnlyOfTheSame(t *testing.T, kind *kindSchema, wanted runtime.ApplyConfiguration, live client.Object) {
	t.Helper()
	if !kind.covers(wanted, live) {
		return
	}
	changed, err := kind.differences(live, wanted)
	if err != nil {
		return // No API server would store such a thing.
	}
	if !changed.Empty() {
		t.Errorf("%T is said to be covered, and differs in %s", live, changed)
	}
}

// isSureOfTheSame checks that covers is sure if the library finds no difference. It skips objects that no API server
// would store, such as those with a key twice in a list.
func isSureOfTheSame(t *testing.T, kind *kindSchema, wanted runtime.ApplyConfiguration, live client.Object) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kind.FromUnstructured(content); err != nil {
		return
	}
	changed, err := kind.differences(live, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if changed.Empty() && !kind.covers(wanted, live) {
		t.Errorf("%T: what was applied just now does not cover what is wanted", live)
	}
}

// stored reads an applied configuration into an object.
func stored(t *testing.T, wanted runtime.ApplyConfiguration, into client.Object) client.Object {
	t.Helper()
	content, err := json.Marshal(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// served returns an object as the API server has it after it was applied, with the defaults that it fills in.
func served(t *testing.T, object render.Object) client.Object {
	t.Helper()
	live := stored(t, object.Configuration, observe.New(object.GroupKind))
	live.SetUID("uid-2")
	live.SetGeneration(1)
	switch live := live.(type) {
	case *appsv1.Deployment:
		live.Spec.RevisionHistoryLimit = new(int32(10))
		pod := &live.Spec.Template.Spec
		pod.RestartPolicy, pod.DNSPolicy, pod.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default"
		for i := range pod.Containers {
			pod.Containers[i].ImagePullPolicy = corev1.PullIfNotPresent
			pod.Containers[i].TerminationMessagePath = corev1.TerminationMessagePathDefault
		}
		live.Status.Replicas = 3
	case *corev1.Service:
		live.Spec.ClusterIPs, live.Spec.SessionAffinity = []string{corev1.ClusterIPNone}, corev1.ServiceAffinityNone
	}
	return live
}
