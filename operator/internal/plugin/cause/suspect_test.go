package cause_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
)

func TestTheSuspectIsThePodThatSaysMost(t *testing.T) {
	silent := cachetest.Pod("shop", "1aaaa", "node-a")
	silent.Status.Conditions, silent.Status.ContainerStatuses[0].Ready = nil, false
	crashing := cachetest.Crashing(cachetest.Pod("shop", "2bbbb", "node-b"), 1)
	newer := *crashing.DeepCopy()
	newer.Name, newer.CreationTimestamp = "newer", cachetest.Ago(time.Minute)
	ended := *newer.DeepCopy()
	ended.Name, ended.DeletionTimestamp = "terminating", new(cachetest.Ago(0))
	pod, source, found := cause.Suspect(access.Observed{Pods: []corev1.Pod{silent, crashing, newer, ended}})
	want := cause.Source{Pod: "newer", Container: names.Container, Previous: true}
	if !found || pod.Name != "newer" || source != want {
		t.Errorf("got %v, %+v", pod, source)
	}
	if _, _, found := cause.Suspect(access.Observed{Pods: []corev1.Pod{cachetest.Pod("shop", "1aaaa", "node-a")}}); found {
		t.Error("a ready Pod is a suspect")
	}
}

func TestTheLogIsThatOfAContainerThatEnded(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	agent := corev1.ContainerStatus{Name: names.Agent, State: running}
	for name, tc := range map[string]struct {
		memcached corev1.ContainerStatus
		want      cause.Source
	}{
		"it has ended":           {corev1.ContainerStatus{State: ended}, cause.Source{Container: names.Container}},
		"it will start again":    {corev1.ContainerStatus{LastTerminationState: ended}, cause.Source{Container: names.Container, Previous: true}},
		"it runs again":          {corev1.ContainerStatus{State: running, LastTerminationState: ended}, cause.Source{Container: names.Container, Previous: true}},
		"it is ready":            {corev1.ContainerStatus{State: running, Ready: true}, cause.Source{Container: names.Agent}},
		"it has not started yet": {corev1.ContainerStatus{}, cause.Source{Container: names.Agent}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.memcached.Name = names.Container
			pod := &corev1.Pod{Status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{agent}, ContainerStatuses: []corev1.ContainerStatus{tc.memcached},
			}}
			if got, _ := cause.SourceOf(pod); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
