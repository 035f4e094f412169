package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/event"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/cli-utils/pkg/object"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const pod = `{apiVersion: v1, kind: Pod, metadata: {name: app-1, namespace: ns},
  status: {containerStatuses: [{state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}}`

func TestWatchTellsWhatAPersonWantsToKnow(t *testing.T) {
	deployment := parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: app, namespace: ns}}`)
	tests := map[string]struct {
		news []*event.ResourceStatus
		want string
	}{
		"ready from the start: nothing": {
			news: []*event.ResourceStatus{of(deployment, status.CurrentStatus, "Ready")},
		},
		"a wait is said once for each reason, and its end": {
			news: []*event.ResourceStatus{
				of(deployment, status.InProgressStatus, "Replicas: 0/1"),
				of(deployment, status.InProgressStatus, "Replicas: 0/1"),
				of(deployment, status.InProgressStatus, "Available: 0/1"),
				of(deployment, status.CurrentStatus, "Ready"),
			},
			want: "deployment/ns/app is not ready yet: Replicas: 0/1\n" +
				"deployment/ns/app is not ready yet: Available: 0/1\n" +
				"deployment/ns/app is ready\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := newWatch([]*unstructured.Unstructured{deployment}, &reporter{out: &out})
			for _, news := range tc.news {
				w.note(news)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFailedWaitSaysWhyDownToThePods(t *testing.T) {
	deployment := parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: app, namespace: ns}}`)
	config := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: ns}}`)
	failing := of(deployment, status.InProgressStatus, "Available: 0/1")
	failing.GeneratedResources = event.ResourceStatuses{of(parse(t, pod), status.InProgressStatus, "Pod is in the Pending phase")}
	w := newWatch([]*unstructured.Unstructured{deployment, config}, &reporter{out: &bytes.Buffer{}})
	w.note(failing)

	want := `not ready, time is up (--timeout gives more):
  deployment/ns/app: Available: 0/1
    pod/ns/app-1: Pod is in the Pending phase (ImagePullBackOff: no such image)
  configmap/ns/config: its status could not be read`
	if diff := cmp.Diff(want, w.failure(nil, context.DeadlineExceeded).Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestAMemcachedIsNotReadyBeforeItsOperatorSaysSo(t *testing.T) {
	tests := map[string]struct {
		object string
		want   status.Status
	}{
		"without a status it is on its way":  {`{}`, status.InProgressStatus},
		"with a status kstatus has the word": {`{status: {observedGeneration: 1}}`, status.CurrentStatus},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := parse(t, tc.object)
			o.SetAPIVersion(operatorGroup + "/v1")
			o.SetKind("Memcached")
			if got := judge(of(o, status.CurrentStatus, "Resource is current")).Status; got != tc.want {
				t.Errorf("status %s, want %s", got, tc.want)
			}
		})
	}
}

// of is what kstatus found of an object.
func of(o *unstructured.Unstructured, s status.Status, message string) *event.ResourceStatus {
	return &event.ResourceStatus{
		Identifier: object.UnstructuredToObjMetadata(o), Resource: o, Status: s, Message: message,
	}
}
