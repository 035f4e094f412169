package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
)

// FuzzATrimmedPodHasTheSameState: the cache holds everything of a Pod that observe reads.
func FuzzATrimmedPodHasTheSameState(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pod := corev1.Pod{}
		arbitrary.Filler(data).Fill(&pod.ObjectMeta)
		arbitrary.Filler(data).Fill(&pod.Status)
		arbitrary.Filler(data).Fill(&pod.Spec.ImagePullSecrets)
		trimmed, err := cached.TrimPod(pod.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		want, got := podsOf([]corev1.Pod{pod}), podsOf([]corev1.Pod{*trimmed.(*corev1.Pod)})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pods (-whole +trimmed):\n%s", diff)
		}
		if PodChanged(&pod, trimmed.(*corev1.Pod)) {
			t.Error("a Pod that did not change is said to have")
		}
	})
}
