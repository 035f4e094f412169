//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// quiet is several times as long as each of these periods: Argo CD compares without a change (every few seconds in the
	// local cluster), the kubelet updates the status of a Node that changed (10 seconds), and the HPA reads its metrics
	// (15 seconds).
	quiet = 45 * time.Second

	// atRest is how long no unexpected write may happen before earlier changes count as complete.
	atRest = 15 * time.Second
)

// The API server's audit log has writes of these users in a cluster at rest.
const (
	argoUser     = "argocd-application-controller"
	nodeUser     = "system:node:node1"
	hpaUser      = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
	operatorUser = "system:serviceaccount:" + operatorNamespace + ":" + operatorName
)

// excuses are the writes that are expected in a cluster at rest. All other writes are faults. No expected write changes
// an object that came from Git or that the operator created.
var excuses = []struct {
	why  string
	fits func(request) bool
}{
	{"the operator holds its Lease", func(r request) bool {
		return r.is("update", "leases", operatorUser)
	}},
	{"the API server and the kubelet renew their Leases", func(r request) bool {
		return r.is("update", "leases", "system:apiserver") || r.is("update", "leases", nodeUser)
	}},
	{"Argo CD notes when it last looked: assertApplicationsStay says that it notes nothing else", func(r request) bool {
		return r.is("patch", "applications", argoUser)
	}},
	{"the kubelet reports its Node every five minutes", func(r request) bool {
		return r.is("patch", "nodes/status", nodeUser)
	}},
	{"the HPA complains that it has no metrics", func(r request) bool {
		return r.is("create", "events", hpaUser) || r.is("patch", "events", hpaUser)
	}},
}

// nobodyWrites checks that no client writes without a reason while nothing changes. One cache has an HPA, so Argo CD
// and the operator must not write its size.
func (s *site) nobodyWrites(t *testing.T) {
	t.Helper()
	s.untilNoPodEnds(t)
	s.untilAtRest(t)
	offset := s.auditEnd(t)
	s.assertApplicationsStay(t, quiet)
	excused, faults := judge(s.writesSince(t, offset))
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		t.Errorf("%d times in %s: %s", faults[fault], quiet, fault)
	}
	for why, count := range excused {
		t.Logf("%3d writes in %s, as %s", count, quiet, why)
	}
}

// untilNoPodEnds waits for the end of Pods that have been replaced. untilAtRest does not suffice, because while a Pod
// drains, nothing is written for longer than untilAtRest waits.
func (s *site) untilNoPodEnds(t *testing.T) {
	t.Helper()
	newGomega(t).Eventually(func(g gomega.Gomega) {
		pods := &corev1.PodList{}
		g.Expect(s.Client.List(t.Context(), pods)).To(gomega.Succeed())
		for _, pod := range pods.Items {
			g.Expect(pod.DeletionTimestamp).To(gomega.BeNil(), "Pod %s ends", pod.Name)
		}
	}).Should(gomega.Succeed())
}

// judge counts the expected writes by their excuse, and all others by verb, resource and user.
func judge(writes []request) (excused, faults map[string]int) {
	excused, faults = map[string]int{}, map[string]int{}
	for _, write := range writes {
		if why := excuse(write); why != "" {
			excused[why]++
		} else {
			faults[write.String()]++
		}
	}
	return excused, faults
}

func excuse(write request) string {
	for _, excuse := range excuses {
		if excuse.fits(write) {
			return excuse.why
		}
	}
	return ""
}

// untilAtRest waits until earlier changes are complete.
func (s *site) untilAtRest(t *testing.T) {
	t.Helper()
	began, offset := time.Now(), s.auditEnd(t)
	var last request
	newGomega(t).Eventually(func() time.Duration {
		since := began
		for _, write := range s.writesSince(t, offset) {
			if excuse(write) == "" {
				since, last = write.Answered, write
			}
		}
		return time.Since(since)
	}).WithPolling(time.Second).Should(gomega.BeNumerically(">", atRest), "the cluster comes to rest; last seen: %s", &last)
}

// assertApplicationsStay watches all Applications. Only the time at which Argo CD last compared may change. So there is
// no sync, no change to the health, and no message.
func (s *site) assertApplicationsStay(t *testing.T, duration time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	began := time.Now()
	events, err := s.Client.Watch(ctx, applicationList(), client.InNamespace(argoNamespace))
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]map[string]any{}
	for event := range events.ResultChan() {
		application, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Deleted {
			t.Errorf("the watch reports: %s %v", event.Type, event.Object)
			continue
		}
		now := essence(application)
		if before, known := last[application.GetName()]; known {
			if diff := cmp.Diff(before, now); diff != "" {
				t.Errorf("Application %s after %s (-before +after):\n%s", application.GetName(), time.Since(began), diff)
			}
		}
		last[application.GetName()] = now
	}
	if took := time.Since(began); took < duration || len(last) != len(applications) {
		t.Errorf("the watch of %d Applications ended after %s", len(last), took)
	}
}

// essence is the part of an Application that does not change when Argo CD compares it with Git.
func essence(application *unstructured.Unstructured) map[string]any {
	content := application.DeepCopy().Object
	for _, fleeting := range [][]string{
		{"metadata", "resourceVersion"}, {"metadata", "generation"}, {"metadata", "managedFields"}, {"status", "reconciledAt"},
	} {
		unstructured.RemoveNestedField(content, fleeting...)
	}
	return content
}

func applicationList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("argoproj.io/v1alpha1")
	list.SetKind("ApplicationList")
	return list
}

// syncs returns the result, the commit and the time of the last sync of each Application. It also says whether the sync
// was limited to some objects: such a sync has restored these objects.
func (s *site) syncs(t *testing.T) map[string]string {
	t.Helper()
	all := applicationList()
	if err := s.Client.List(t.Context(), all, client.InNamespace(argoNamespace)); err != nil {
		t.Fatal(err)
	}
	syncs := map[string]string{}
	for _, application := range all.Items {
		state, _, _ := unstructured.NestedMap(application.Object, "status", "operationState")
		sync, _, _ := unstructured.NestedMap(state, "operation", "sync")
		line := fmt.Sprintf("%s of %s at %s", state["phase"], sync["revision"], state["startedAt"])
		if some, _ := sync["resources"].([]any); len(some) > 0 {
			line += fmt.Sprintf(", only %v", some)
		}
		syncs[application.GetName()] = line
	}
	return syncs
}
