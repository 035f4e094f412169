package apply

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// decided is a plan with its Pod template.
type decided struct {
	plan.Plan
	template render.Template
}

// decide plans a cache. It returns false if the spec is invalid.
func decide(mc *cachev1.Memcached, current plan.Current, defaults plan.Defaults) (decided, bool) {
	outcome, template, err := desired.State(mc, current, defaults)
	p, planned := plan.Of(outcome)
	return decided{p, template}, planned && err == nil
}

// planned returns the plan of a Memcached whose spec has nothing but a size of three. A test case may change the
// operator's defaults.
func planned(t testing.TB, change func(*plan.Defaults)) decided {
	t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"}}
	mc.Spec.Size = new(int32(3))
	defaults := plan.Defaults{Revisions: []int{1}, Image: "registry.example.com/memcached:1", AgentImage: "agent:1", Platform: plan.OpenShift}
	if change != nil {
		change(&defaults)
	}
	p, planned := decide(mc, plan.Current{SecretsUsable: true}, defaults)
	if !planned {
		t.Fatal("there is no plan")
	}
	return p
}

// rendered returns the Deployment of a plan.
func rendered(t testing.TB, p decided) render.Object {
	t.Helper()
	for _, object := range render.Objects(p.Plan, p.template, nil) {
		if object.GroupKind == observe.DeploymentKind.GroupKind() {
			return object
		}
	}
	t.Fatal("no Deployment was rendered")
	return render.Object{}
}

// stamped renders and stamps the Deployment of a plan.
func stamped(t testing.TB, p decided) render.Object {
	t.Helper()
	object := rendered(t, p)
	if err := stamp(object); err != nil {
		t.Fatal(err)
	}
	return object
}

// liveAs returns a Deployment as the API server has it after the object was applied, defaults included.
func liveAs(t testing.TB, object render.Object) *appsv1.Deployment {
	t.Helper()
	content, err := json.Marshal(object.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	live := &appsv1.Deployment{}
	if err := json.Unmarshal(content, live); err != nil {
		t.Fatal(err)
	}
	live.TypeMeta = metav1.TypeMeta{} // A read from the API server returns objects without it.
	live.UID, live.ResourceVersion, live.Generation = "uid-2", "7", 1
	live.Spec.RevisionHistoryLimit = new(int32(10))
	live.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	live.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
	return live
}

func TestDifferences(t *testing.T) {
	container := func(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[0] }
	tests := map[string]struct {
		damage func(*appsv1.Deployment)
		before func(*plan.Defaults)
		want   []string
	}{
		"nothing but what the API server filled in": {},
		"a sidecar, a volume and an annotation of another client": {
			damage: func(d *appsv1.Deployment) {
				spec := &d.Spec.Template.Spec
				spec.Containers = append([]corev1.Container{{Name: "sidecar", Image: "x"}}, spec.Containers...)
				spec.Volumes = []corev1.Volume{{Name: "scratch"}}
				d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = "now"
			},
		},
		"the same quantity in another spelling": {
			damage: func(d *appsv1.Deployment) {
				container(d).Resources.Requests[corev1.ResourceCPU] = resource.MustParse("0.05")
			},
		},
		"another image": {
			damage: func(d *appsv1.Deployment) { container(d).Image = "other" },
			want:   []string{`.spec.template.spec.containers[name="memcached"].image`},
		},
		"other arguments and another number of replicas": {
			damage: func(d *appsv1.Deployment) { container(d).Args = []string{"-vv"}; d.Spec.Replicas = new(int32(9)) },
			want:   []string{".spec.replicas", `.spec.template.spec.containers[name="memcached"].args`},
		},
		"an owned label removed": {
			damage: func(d *appsv1.Deployment) { delete(d.Labels, names.LabelAppName) },
			want:   []string{".metadata.labels.app.kubernetes.io/name"},
		},
		"the record of what the Pods are made of taken away": {
			damage: func(d *appsv1.Deployment) { delete(d.Annotations, names.AnnotationTemplateInputs) },
			want:   []string{".metadata.annotations.cache.example.com/template-inputs"},
		},
		"the record changed by hand": {
			damage: func(d *appsv1.Deployment) { d.Annotations[names.AnnotationTemplateInputs] = "{}" },
			want:   []string{".metadata.annotations.cache.example.com/template-inputs"},
		},
		"a field that the plan no longer wants shows by the hash": {
			before: func(d *plan.Defaults) { d.Platform = plan.Kubernetes },
			want: []string{
				".metadata.annotations.cache.example.com/applied-hash",
				".metadata.annotations.cache.example.com/template-inputs",
			},
		},
	}
	compare := newSchemas(clientgoscheme.Scheme)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := liveAs(t, stamped(t, planned(t, tc.before)))
			if tc.damage != nil {
				tc.damage(live)
			}
			changed, err := compare.differences(live, stamped(t, planned(t, nil)))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for path := range changed.All() {
				got = append(got, path.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkCompareOneDeploymentAtRest(b *testing.B) {
	compare := newSchemas(clientgoscheme.Scheme)
	p := planned(b, nil)
	live := liveAs(b, stamped(b, p))
	b.ReportAllocs()
	for b.Loop() {
		if changed, err := compare.differences(live, stamped(b, p)); err != nil || !changed.Empty() {
			b.Fatal(changed, err)
		}
	}
}

// BenchmarkCompareOneDeploymentByTheLibrary measures a comparison that may find a difference.
func BenchmarkCompareOneDeploymentByTheLibrary(b *testing.B) {
	kind := newSchemas(clientgoscheme.Scheme)[observe.DeploymentKind.GroupKind()]
	wanted := stamped(b, planned(b, nil))
	live := liveAs(b, wanted)
	b.ReportAllocs()
	for b.Loop() {
		if changed, err := kind.differences(live, wanted.Configuration); err != nil || !changed.Empty() {
			b.Fatal(changed, err)
		}
	}
}

// BenchmarkCoverOneDeployment measures a comparison that finds no difference.
func BenchmarkCoverOneDeployment(b *testing.B) {
	kind := newSchemas(clientgoscheme.Scheme)[observe.DeploymentKind.GroupKind()]
	wanted := stamped(b, planned(b, nil))
	live := liveAs(b, wanted)
	b.ReportAllocs()
	for b.Loop() {
		if !kind.covers(wanted.Configuration, live) {
			b.Fatal("what is there does not cover what is wanted")
		}
	}
}
