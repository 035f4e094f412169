package main

import (
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/event"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/cli-utils/pkg/object"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// statusOf is the status of an object in YAML.
func statusOf(t *testing.T, text string, s status.Status, message string) *event.ResourceStatus {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return &event.ResourceStatus{
		Identifier: object.UnstructuredToObjMetadata(o), Resource: o, Status: s, Message: message,
	}
}

func TestAnUnreadyObjectIsDescribedDownToItsPods(t *testing.T) {
	deployment := statusOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: app, namespace: ns}}`,
		status.InProgressStatus, "Available: 0/1")
	deployment.GeneratedResources = event.ResourceStatuses{
		statusOf(t, `{apiVersion: v1, kind: Pod, metadata: {name: app-1, namespace: ns}, status: {containerStatuses:
			[{state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}}`,
			status.InProgressStatus, "Pod is in the Pending phase"),
		statusOf(t, `{apiVersion: v1, kind: Pod, metadata: {name: app-2, namespace: ns}}`, status.CurrentStatus, ""),
	}
	namespace := statusOf(t, `{apiVersion: v1, kind: Namespace, metadata: {name: ns, finalizers: [a/b]}, status: {conditions:
		[{type: NamespaceContentRemaining, status: "True", message: Some resources are remaining}]}}`,
		status.TerminatingStatus, "Resource scheduled for deletion")
	want := []string{
		"Deployment/ns/app: Available: 0/1",
		"  Pod/ns/app-1: Pod is in the Pending phase: ImagePullBackOff: no such image",
		"Namespace/ns: Resource scheduled for deletion: Some resources are remaining: a/b",
	}
	if diff := cmp.Diff(want, append(describe(deployment, ""), describe(namespace, "")...)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAMemcachedWithoutAStatusIsInProgress(t *testing.T) {
	for text, want := range map[string]status.Status{
		`{apiVersion: cache.example.com/v1, kind: Memcached}`:                                  status.InProgressStatus,
		`{apiVersion: cache.example.com/v1, kind: Memcached, status: {observedGeneration: 1}}`: status.CurrentStatus,
		`{apiVersion: v1, kind: ConfigMap}`:                                                    status.CurrentStatus,
	} {
		text = strings.ReplaceAll(text, "cache.example.com", operatorGroup)
		if got := corrected(*statusOf(t, text, status.CurrentStatus, "")).Status; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
