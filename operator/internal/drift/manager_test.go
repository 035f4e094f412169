package drift

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	replicasField  = `{"f:spec":{"f:replicas":{}}}`
	containerField = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"memcached\"}":%s}}}}}`
)

var (
	container  = []any{"spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "memcached")}
	replicas   = fieldpath.MakePathOrDie("spec", "replicas")
	image      = fieldpath.MakePathOrDie(append(container[:5:5], "image")...)
	cpu        = fieldpath.MakePathOrDie(append(container[:5:5], "resources", "limits", "cpu")...)
	imageField = fmt.Sprintf(containerField, `{"f:image":{}}`)
	cpuField   = fmt.Sprintf(containerField, `{"f:resources":{"f:limits":{"f:cpu":{}}}}`)
)

func TestEachKindOfManagerHasItsFix(t *testing.T) {
	const (
		argoCD = "Argo CD manages the Deployment directly: remove the Deployment from the Application, and keep the Memcached in the Application"
		hpa    = "an autoscaler scales the Deployment: point the HorizontalPodAutoscaler's scaleTargetRef at the Memcached"
		sizer  = "an autoscaler sets container resources: set spec.resources of the Memcached, or exclude the Deployment from the autoscaler"
		other  = "another memcached operator manages this cache, or an admission webhook changes what is applied: remove that operator, " +
			"or exempt the Deployment from the webhook"
		none = "find the client in the audit log of the API server"
	)
	tracked := func(d *appsv1.Deployment) {
		d.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "caches:apps/Deployment:team/cache"}
	}
	labeled := func(d *appsv1.Deployment) { d.Labels = map[string]string{"argocd.argoproj.io/instance": "caches"} }
	tests := map[string]struct {
		damage  func(*appsv1.Deployment)
		changed fieldpath.Path
		manager string
		how     string
		fields  string
		want    ManagerKind
		fix     string
	}{
		"Argo CD": {changed: image, manager: "argocd-controller", how: "Apply", fields: imageField, want: ArgoCD, fix: argoCD},
		"Argo CD, by the annotation that it tracks by, and client-side": {
			damage: tracked, changed: image, manager: "kubectl-client-side-apply", how: "Update", fields: imageField,
			want: ArgoCD, fix: argoCD,
		},
		"Argo CD, by the label that it tracks by": {
			damage: labeled, changed: replicas, manager: "own-name", how: "Apply", fields: replicasField, want: ArgoCD, fix: argoCD,
		},
		"a person, on an object that Argo CD tracks": {
			damage: tracked, changed: replicas, manager: "kubectl-edit", how: "Update", fields: replicasField,
			want: Manual, fix: "change spec.size of the Memcached instead of the Deployment",
		},
		"a HorizontalPodAutoscaler": {
			changed: replicas, manager: "kube-controller-manager", how: "Update of scale", fields: replicasField,
			want: HorizontalAutoscaler, fix: hpa,
		},
		"an autoscaler of another making": {
			changed: replicas, manager: "keda", how: "Update of scale", fields: replicasField, want: HorizontalAutoscaler, fix: hpa,
		},
		"a VerticalPodAutoscaler": {
			changed: cpu, manager: "vpa-updater", how: "Update", fields: cpuField, want: VerticalAutoscaler, fix: sizer,
		},
		"whoever sizes containers, unrecorded": {changed: cpu, manager: "x", how: "Update", fields: `{}`, want: VerticalAutoscaler, fix: sizer},
		"kubectl scale": {
			changed: replicas, manager: "kubectl", how: "Update of scale", fields: replicasField,
			want: Manual, fix: "change spec.size of the Memcached instead of the Deployment",
		},
		"kubectl edit": {
			changed: image, manager: "kubectl-edit", how: "Update", fields: imageField,
			want: Manual, fix: "change spec.image of the Memcached instead of the Deployment",
		},
		"kubectl set resources": {
			changed: cpu, manager: "kubectl-set", how: "Update", fields: cpuField,
			want: Manual, fix: "change spec.resources of the Memcached instead of the Deployment",
		},
		"kubectl rollout undo": {
			changed: image, manager: "kubectl-rollout", how: "Update", fields: imageField,
			want: Manual, fix: "change spec.image of the Memcached instead of the Deployment",
		},
		"oc": {
			changed: app, manager: "oc", how: "Update", fields: labels,
			want: Manual, fix: "change the Memcached instead of the Deployment",
		},
		"the browser of a web console": {
			changed: replicas, manager: "Mozilla", how: "Update", fields: replicasField,
			want: Manual, fix: "change spec.size of the Memcached instead of the Deployment",
		},
		"a program whose name only begins like oc": {
			changed: replicas, manager: "octopus", how: "Update", fields: replicasField,
			want: Other, fix: `stop "octopus" from setting this field, or set spec.size of the Memcached to the same value`,
		},
		"another operator of this kind": {
			changed: image, manager: "memcached-operator", how: "Apply", fields: imageField, want: Operator, fix: other,
		},
		"a program of another name": {
			changed: image, manager: "deployer", how: "Apply", fields: imageField,
			want: Other, fix: `stop "deployer" from setting this field, or set spec.image of the Memcached to the same value`,
		},
		"an unrecorded client": {changed: image, manager: "x", how: "Update", fields: `{}`, want: Unknown, fix: none},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			live := liveDeployment()
			if tc.damage != nil {
				tc.damage(live)
			}
			live.ManagedFields = []metav1.ManagedFieldsEntry{byUs(`{}`), written(tc.manager, tc.how, time.Second, tc.fields)}
			drifts, err := Explain(live, wantedDeployment(), fieldpath.NewSet(tc.changed))
			if err != nil {
				t.Fatal(err)
			}
			if len(drifts) != 1 || drifts[0].Kind != tc.want {
				t.Fatalf("drifts %+v, want one by %q", drifts, tc.want)
			}
			if diff := cmp.Diff(tc.fix, Fixes("Deployment", drifts)); diff != "" {
				t.Errorf("fix (-want +got):\n%s", diff)
			}
		})
	}
}

// liveDeployment returns a Deployment that differs from wantedDeployment in all fields that the test cases are about.
func liveDeployment() *appsv1.Deployment {
	live := &appsv1.Deployment{}
	live.Labels = map[string]string{"app": "other"}
	live.Spec.Replicas = new(int32(7))
	live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "memcached", Image: "registry.example.com/other:1"}}
	live.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
	return live
}

func wantedDeployment() *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().WithName("memcached").WithImage("registry.example.com/memcached:1").
		WithResources(corev1ac.ResourceRequirements().WithLimits(corev1.ResourceList{"cpu": resource.MustParse("2")}))
	return appsv1ac.Deployment("cache", "team").WithLabels(map[string]string{"app": "memcached"}).
		WithSpec(appsv1ac.DeploymentSpec().WithReplicas(3).
			WithTemplate(corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(container))))
}

func TestManyFieldsAndSeveralAuthors(t *testing.T) {
	one, two := &Author{Manager: "one", Operation: "Update"}, &Author{Manager: "two", Operation: "Apply"}
	drifts := []Drift{
		{Field: ".a", Was: "1", Is: "2", Author: one, Kind: Other},
		{Field: ".b", Was: "1", Is: "2", Author: one, Kind: Other},
		{Field: ".c", Was: "1", Author: one, Kind: Other},
		{Field: ".d", Was: "1", Is: "2", Author: two, Kind: Other},
	}
	want := `.a 1 -> 2, .b 1 -> 2 by "one" (Update, no time recorded), .c 1 -> removed; the object was last written by "one" (Update, no time recorded), ` +
		`.d 1 -> 2 by "two" (Apply, no time recorded)`
	if diff := cmp.Diff(want, Describe(drifts)); diff != "" {
		t.Errorf("in words (-want +got):\n%s", diff)
	}
	want = `stop "one" from setting this field, or set the Memcached to the same value; stop "two" from setting this field, or set the Memcached to the same value`
	if diff := cmp.Diff(want, Fixes("Service", drifts)); diff != "" {
		t.Errorf("fixes (-want +got):\n%s", diff)
	}
	for range 3 {
		drifts = append(drifts, drifts[0], drifts[0])
	}
	if words := Describe(drifts); !strings.HasSuffix(words, `.a 1 -> 2 by "one" (Update, no time recorded), and 2 more`) {
		t.Errorf("ten fields: %s", words)
	}
}

func TestValuesThatAreSecretOrLong(t *testing.T) {
	env := append(container[:5:5], "env", fieldpath.KeyByFields("name", "PASSWORD"), "value")
	tests := map[string]struct {
		path  fieldpath.Path
		value any
		want  string
	}{
		"the value of an environment variable": {fieldpath.MakePathOrDie(env...), "secret", "(not shown)"},
		"values of environment variables in a container": {
			fieldpath.MakePathOrDie(container[:4]...), []any{map[string]any{"env": []any{"secret"}, "name": "x"}},
			`[{"env":"(not shown)","name":"x"}]`,
		},
		"an own annotation":      {hash, "{}", "(an annotation of the operator)"},
		"what HTML would escape": {image, "<a&b>", `"<a&b>"`},
		"a long value is cut between two characters": {
			image, strings.Repeat("ü", 60), `"` + strings.Repeat("ü", 39) + "…",
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, spell(tc.path, tc.value)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}
