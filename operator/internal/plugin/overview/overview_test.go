package overview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

func TestTheStateOfACacheIsThatOfItsConditions(t *testing.T) {
	ready := cachetest.Memcached("a", cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	outdatedOne := ready.DeepCopy()
	outdatedOne.Generation = 3
	suspended := outdatedOne.DeepCopy()
	suspended.Spec.Suspend = true
	for name, tc := range map[string]struct {
		mc    *cachev1.Memcached
		state State
	}{
		"all Pods are ready":               {ready, Ready},
		"the spec is newer than the state": {outdatedOne, Reconciling},
		"a suspended one stays as it is":   {suspended, Ready},
		"no status":                        {&cachev1.Memcached{}, Unknown},
		"Pods fail":                        {cachetest.Memcached("a", cachev1.ReasonPodsNotReady, ""), Reconciling},
		"nothing will change": {cachetest.Memcached("a", cachev1.ReasonInvalidSpec, "",
			cachetest.Condition(cachev1.ConditionStalled, cachev1.ReasonInvalidSpec, "")), Stalled},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SummaryOf(tc.mc); got.State != tc.state || got.Message == "" && tc.state == Unknown {
				t.Errorf("got %+v, want %s", got, tc.state)
			}
		})
	}
}

func TestTheSizeOfACacheIsWhatTheOperatorChose(t *testing.T) {
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "5 of 5 Pods ready")
	mc.Spec.Autoscaling = &cachev1.Autoscaling{Size: &cachev1.SizeAutoscaling{Mode: cachev1.AutoscalingAct, Min: 1, Max: 9}}
	mc.Status.Autoscaling = &cachev1.AutoscalingStatus{Size: &cachev1.SizeAutoscalingStatus{Current: new(int32(5))}}
	if size := SummaryOf(mc).Size; size != 5 {
		t.Errorf("the size is %d", size)
	}
}

func TestTheWorstCacheComesFirst(t *testing.T) {
	replacing := *cachetest.Memcached("d-replacing", cachev1.ReasonRollingOut, "")
	emptier := *cachetest.Memcached("e-emptier", cachev1.ReasonPodsNotReady, "")
	failing := *cachetest.Memcached("c-failing", cachev1.ReasonPodsNotReady, "")
	failing.Status.ReadyReplicas = 2
	waiting := *cachetest.Memcached("z-waiting", cachev1.ReasonAllPodsReady, "",
		cachetest.Condition(cachev1.ConditionRestartRequired, cachev1.ReasonUserRemoved, ""))
	stalled := *cachetest.Memcached("y-stalled", cachev1.ReasonInvalidSpec, "",
		cachetest.Condition(cachev1.ConditionStalled, cachev1.ReasonInvalidSpec, ""))
	unseen := cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "x-unseen"}}
	healthy := *cachetest.Memcached("a-healthy", cachev1.ReasonAllPodsReady, "")
	var got []string
	for _, member := range FleetOf([]cachev1.Memcached{healthy, replacing, emptier, failing, waiting, stalled, unseen}) {
		got = append(got, member.Name)
	}
	want := []string{"y-stalled", "x-unseen", "e-emptier", "c-failing", "d-replacing", "z-waiting", "a-healthy"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheVersionOfAPodIsTheTagOfItsImage(t *testing.T) {
	for image, want := range map[string]string{
		"memcached": "latest", "memcached:1.6.45": "1.6.45", "localhost:5000/memcached": "latest",
		"localhost:5000/memcached:1.6@sha256:0123456789abcdef": "1.6", "memcached@sha256:0123456789abcdef": "sha256:01234567",
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: names.Container, Image: image}}}}
		if got := versionOf(pod); got != want {
			t.Errorf("%s: got %q, want %q", image, got, want)
		}
	}
}
