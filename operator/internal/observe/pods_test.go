package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
)

// waitingPod returns a Pod whose memcached container waits for this reason.
func waitingPod(reason, message string, last *corev1.ContainerStateTerminated) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "cache-1"},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "memcached", Image: "registry.example.com/memcached:1",
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			LastTerminationState: corev1.ContainerState{Terminated: last},
		}}},
	}
}

func TestProblemOf(t *testing.T) {
	const cannotPull = `image "registry.example.com/memcached:1" of container "memcached" cannot be pulled ` +
		"(see spec.image; no pull Secret is set, see spec.imagePullSecrets)"
	const crashed = `container "memcached" exited with code 71 and is restarted`
	ended := func(state corev1.ContainerState) corev1.Pod {
		pod := waitingPod("", "", &corev1.ContainerStateTerminated{ExitCode: 71, Reason: "Error"})
		pod.Status.ContainerStatuses[0].State = state
		return pod
	}
	unschedulable := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
		Message: "0/1 nodes are available:\n 1 node(s) didn't match.",
	}}}}
	tests := map[string]struct {
		pod  corev1.Pod
		want string
	}{
		"a Pod without a status":      {pod: corev1.Pod{}},
		"a Pod that is being started": {pod: waitingPod("ContainerCreating", "", nil)},
		"no Node fits": {
			pod:  unschedulable,
			want: "cannot be scheduled: 0/1 nodes are available: 1 node(s) didn't match.",
		},
		"the image can't be pulled": {
			pod:  waitingPod("ErrImagePull", "not found", nil),
			want: cannotPull + ": not found",
		},
		"the image still can't be pulled, in the same words": {
			pod:  waitingPod("ImagePullBackOff", `Back-off pulling image "x": ErrImagePull: not found`, nil),
			want: cannotPull + ": not found",
		},
		"the image can't be pulled with the Secrets that are named": {
			pod: func() corev1.Pod {
				pod := waitingPod("ErrImagePull", "", nil)
				pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}
				return pod
			}(),
			want: `image "registry.example.com/memcached:1" of container "memcached" cannot be pulled ` +
				"(see spec.image, and check that these pull Secrets exist and match: a, b)",
		},
		"the image of the agent can't be pulled": {
			pod: func() corev1.Pod {
				pod := waitingPod("ErrImagePull", "", nil)
				pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
				pod.Status.InitContainerStatuses[0].Name = "agent"
				return pod
			}(),
			want: `image "registry.example.com/memcached:1" of container "agent" cannot be pulled ` +
				"(see the operator's RELATED_IMAGE_AGENT; no pull Secret is set, see spec.imagePullSecrets)",
		},
		"the kubelet backs off and does not say why": {
			pod:  waitingPod("ImagePullBackOff", `Back-off pulling image "x"`, nil),
			want: cannotPull,
		},
		"the container crashes": {
			pod:  waitingPod("CrashLoopBackOff", "back-off 40s restarting", &corev1.ContainerStateTerminated{ExitCode: 71, Reason: "Error"}),
			want: crashed,
		},
		"the container crashed, and runs for a moment": {pod: ended(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), want: crashed},
		"the container crashed just now": {
			pod: ended(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 71, Reason: "Error"}}), want: crashed,
		},
		"the container is killed for its memory": {
			pod: waitingPod("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}),
			want: `container "memcached" exited with code 137 and is restarted ` +
				"(OOMKilled: it needed more memory than spec.resources.limits.memory allows)",
		},
		"the agent is killed for its memory": {
			pod: func() corev1.Pod {
				pod := waitingPod("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
				pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
				pod.Status.InitContainerStatuses[0].Name = "agent"
				return pod
			}(),
			want: `container "agent" exited with code 137 and is restarted ` +
				"(OOMKilled: it needed more memory than spec.agent.resources.limits.memory allows)",
		},
		"a container whose limit is fixed is killed for its memory": {
			pod: func() corev1.Pod {
				pod := waitingPod("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
				pod.Status.ContainerStatuses[0].Name = "agent"
				return pod
			}(),
			want: `container "agent" exited with code 137 and is restarted (OOMKilled: it needed more memory than its limit)`,
		},
		"memcached says why it ends": {
			pod: waitingPod("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{
				ExitCode: 71, Reason: "Error", Message: "slab class 1\nslab class 2\nbind(): Address already in use\nfailed to listen\n",
			}),
			want: crashed + ": bind(): Address already in use failed to listen",
		},
		"the image is for other Nodes": {
			pod: waitingPod("ErrImagePull", "rpc error: no match for platform in manifest sha256:1: not found", nil),
			want: `image "registry.example.com/memcached:1" of container "memcached" cannot be pulled ` +
				"(it has no variant for the Node's architecture; see spec.image, or exclude these Nodes by " +
				"spec.placement.architectures): rpc error: no match for platform in manifest sha256:1: not found",
		},
		"the image is for other Nodes, as CRI-O reports it": {
			pod: waitingPod("ErrImagePull", `no image found in image index for architecture "s390x", variant ""`, nil),
			want: `image "registry.example.com/memcached:1" of container "memcached" cannot be pulled ` +
				"(it has no variant for the Node's architecture; see spec.image, or exclude these Nodes by " +
				`spec.placement.architectures): no image found in image index for architecture "s390x", variant ""`,
		},
		"the program in the image is for other Nodes": {
			pod: waitingPod("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{
				ExitCode: 71, Reason: "Error", Message: "exec /memcached: exec format error",
			}),
			want: crashed + ": the image claims the Node's architecture, but its program is for another architecture; see " +
				"spec.image, or exclude these Nodes by spec.placement.architectures: exec /memcached: exec format error",
		},
		"the program in the image is for other Nodes, and the container does not even start": {
			pod: waitingPod("RunContainerError", "runc: exec /memcached: exec format error", nil),
			want: `container "memcached" cannot start (RunContainerError): the image claims the Node's ` +
				"architecture, but its program is for another architecture; see spec.image, or exclude these Nodes by " +
				"spec.placement.architectures: runc: exec /memcached: exec format error",
		},
		"the kubelet refuses to start it": {
			pod:  waitingPod("CreateContainerConfigError", `secret "x" not found`, nil),
			want: `container "memcached" cannot start (CreateContainerConfigError): secret "x" not found`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ProblemOf(&tc.pod); got != tc.want {
				t.Errorf("problem %q, want %q", got, tc.want)
			}
			trimmed, err := cached.TrimPod(tc.pod.DeepCopy())
			if err != nil {
				t.Fatal(err)
			}
			if got := ProblemOf(trimmed.(*corev1.Pod)); got != tc.want {
				t.Errorf("problem of the trimmed Pod %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPodsAreThoseThatServeOrMayServe(t *testing.T) {
	pod := func(name string, change func(*corev1.Pod)) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		change(&p)
		return p
	}
	pods := []corev1.Pod{
		pod("ready", func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}),
		pod("terminating", func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }),
		pod("evicted", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		pod("new", func(*corev1.Pod) {}),
	}
	want := []Pod{{Name: "new"}, {Name: "ready", Ready: true}}
	if diff := cmp.Diff(want, podsOf(pods)); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

// TestAPodBelongsToTheMemcachedWhoseDeploymentControlsIt, even when the Pod is trimmed twice, as client-go does after a
// list.
func TestAPodBelongsToTheMemcachedWhoseDeploymentControlsIt(t *testing.T) {
	replicaSet := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "cache-7d4f", Controller: new(true)}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"its ReplicaSet is the Deployment's":     {func(*corev1.Pod) {}, "cache"},
		"it has no controller":                   {func(p *corev1.Pod) { p.OwnerReferences = nil }, ""},
		"its owner does not control it":          {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, ""},
		"its ReplicaSet is another Deployment's": {func(p *corev1.Pod) { p.OwnerReferences[0].Name = "cache-two-7d4f" }, ""},
		"its ReplicaSet is of another template":  {func(p *corev1.Pod) { p.Labels["pod-template-hash"] = "other" }, ""},
		"a StatefulSet controls it":              {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "StatefulSet" }, ""},
		"another API's ReplicaSet controls it":   {func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "example.com/v1" }, ""},
		"it has the label of another Memcached":  {func(p *corev1.Pod) { p.Labels["memcached_cr"] = "two" }, ""},
		"another owner exists besides the controller": {func(p *corev1.Pod) {
			p.OwnerReferences = append([]metav1.OwnerReference{{Kind: "X", Name: "x"}}, p.OwnerReferences...)
		}, "cache"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Labels:          map[string]string{"app": "memcached", "memcached_cr": "cache", "pod-template-hash": "7d4f"},
				OwnerReferences: []metav1.OwnerReference{replicaSet},
			}}
			tc.change(pod)
			for range 2 {
				trimmed, err := cached.TrimPod(pod)
				if err != nil {
					t.Fatal(err)
				}
				pod = trimmed.(*corev1.Pod).DeepCopy()
				if got := InstanceOf(pod); got != tc.want {
					t.Fatalf("it belongs to %q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestPodChanged(t *testing.T) {
	before := waitingPod("ImagePullBackOff", "Back-off pulling image", nil)
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a longer back-off": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State.Waiting.Message = "Back-off pulling image again"
		}, false},
		"another restart":        {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ }, false},
		"it begins to go":        {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, true},
		"another reason":         {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Waiting.Reason = "CreateContainerError" }, true},
		"it runs, not yet ready": {func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			after := before.DeepCopy()
			tc.change(after)
			if got := PodChanged(&before, after); got != tc.want {
				t.Errorf("PodChanged = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheLastProgressIsThatOfThePodsThatAreReady(t *testing.T) {
	at := func(seconds int64, ready corev1.ConditionStatus) corev1.Pod {
		return corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Unix(seconds, 0),
		}}}}
	}
	tests := map[string]struct {
		pods []corev1.Pod
		want time.Time
	}{
		"no Pod":               {nil, time.Time{}},
		"a Pod without status": {[]corev1.Pod{{}}, time.Time{}},
		"several Pods":         {[]corev1.Pod{at(5, "True"), at(7, "True"), at(6, "True")}, time.Unix(7, 0)},
		"one is not ready now": {[]corev1.Pod{at(5, "True"), at(7, "False")}, time.Unix(5, 0)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range tc.pods { // The cache stores the Pod like this.
				trimmed, err := cached.TrimPod(&tc.pods[i])
				if err != nil {
					t.Fatal(err)
				}
				tc.pods[i] = *trimmed.(*corev1.Pod)
			}
			if got := progressed(tc.pods); !got.Equal(tc.want) {
				t.Errorf("last progress %s, want %s", got, tc.want)
			}
		})
	}
}
