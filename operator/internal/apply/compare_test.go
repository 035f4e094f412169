package apply

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

var planned = plan.Plan{
	Name: "cache", Namespace: "team", UID: "uid-1",
	Size: 3, Image: "registry.example.com/memcached:1",
	Memcached: memcached.Settings{ItemMemory: 64 << 20, Port: 11211, MaxConnections: 1024, Threads: 4},
}

// stamped renders and stamps the Deployment of a plan.
func stamped(t testing.TB, p plan.Plan) render.Object {
	t.Helper()
	for _, object := range render.Objects(p) {
		if object.GroupKind == observe.DeploymentKind.GroupKind() {
			if err := stamp(object); err != nil {
				t.Fatal(err)
			}
			return object
		}
	}
	t.Fatal("no Deployment was rendered")
	return render.Object{}
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
		plan   func(*plan.Plan)
		want   []string
	}{
		"nothing but what the API server filled in": {},
		"a sidecar, a volume and an annotation of somebody else's": {
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
		"a label of ours taken away": {
			damage: func(d *appsv1.Deployment) { delete(d.Labels, names.LabelAppName) },
			want:   []string{".metadata.labels.app.kubernetes.io/name"},
		},
		"a field that the plan no longer wants shows by the hash": {
			plan: func(p *plan.Plan) { p.UserID = new(int64(11211)) },
			want: []string{".metadata.annotations.cache.example.com/applied-hash"},
		},
	}
	syncer := NewSyncer(nil, nil, clientgoscheme.Scheme)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := planned
			if tc.plan != nil {
				tc.plan(&before)
			}
			live := liveAs(t, stamped(t, before))
			live.SetGroupVersionKind(observe.DeploymentKind)
			if tc.damage != nil {
				tc.damage(live)
			}
			got, err := syncer.differences(live, stamped(t, planned))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkCompareOneDeploymentAtRest(b *testing.B) {
	syncer := NewSyncer(nil, nil, clientgoscheme.Scheme)
	live := liveAs(b, stamped(b, planned))
	live.SetGroupVersionKind(observe.DeploymentKind)
	b.ReportAllocs()
	for b.Loop() {
		if fields, err := syncer.differences(live, stamped(b, planned)); err != nil || len(fields) > 0 {
			b.Fatal(fields, err)
		}
	}
}
