package drift

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestOtherHandlers(t *testing.T) {
	wanted := appsv1ac.Deployment("cache", "team").WithSpec(appsv1ac.DeploymentSpec().WithTemplate(
		corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(
			corev1ac.Container().WithName("memcached").WithLifecycle(corev1ac.Lifecycle().WithPreStop(
				corev1ac.LifecycleHandler().WithSleep(corev1ac.SleepAction().WithSeconds(30))))))))
	container := fieldpath.KeyByFields("name", "memcached")
	sleep := fieldpath.MakePathOrDie("spec", "template", "spec", "containers", container, "lifecycle", "preStop", "sleep", "seconds")
	const preStop = "/spec/template/spec/containers/0/lifecycle/preStop"
	tests := map[string]struct {
		live corev1.LifecycleHandler
		want []string
	}{
		"a command":                     {corev1.LifecycleHandler{Exec: &corev1.ExecAction{}}, []string{preStop}},
		"a request":                     {corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{}}, []string{preStop}},
		"another time of the same kind": {corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 9}}, nil},
		"none":                          {corev1.LifecycleHandler{}, nil},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			live := &appsv1.Deployment{}
			live.Spec.Template.Spec.Containers = []corev1.Container{{
				Name: "memcached", Lifecycle: &corev1.Lifecycle{PreStop: &tc.live},
			}}
			pointers, err := OtherHandlers(live, wanted, fieldpath.NewSet(sleep))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, pointers); diff != "" {
				t.Errorf("pointers (-want +got):\n%s", diff)
			}
		})
	}
}
