package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func TestAnApplicationIsRead(t *testing.T) {
	const text = `
metadata: {name: root, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec: {source: {repoURL: https://git.example.org/x.git, targetRevision: main, path: gitops/apps/olm}}
status:
  sync: {status: OutOfSync, revision: abc}
  health: {status: Progressing}
  conditions: [{type: ComparisonError, message: Failed to load}]
  operationState:
    phase: Running
    message: objects failed to apply
    syncResult: {resources: [{kind: Memcached, status: SyncFailed, message: Invalid value}, {status: Synced, message: unchanged}]}
  resources:
    - {kind: Application, name: olm}
    - {kind: Subscription, name: s, health: {status: Degraded, message: ResolutionFailed}}
    - {kind: CatalogSource, name: c, health: {status: Healthy, message: OLM reads the catalog}}
    - {kind: Application, name: memcached-operator}
`
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	want := Application{
		Name: "root", Source: "gitops/apps/olm of https://git.example.org/x.git at main",
		Sync: "OutOfSync", Health: "Progressing", Revision: "abc", Deleting: true, Failed: true,
		Messages: []string{"Failed to load", "objects failed to apply", "Invalid value", "Subscription s: ResolutionFailed"},
		Children: []string{"olm", "memcached-operator"},
	}
	if diff := cmp.Diff(want, parse(o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// application returns an Application with the status that Argo CD would write.
func application(name, sync, health, revision string, children ...string) *unstructured.Unstructured {
	o := object(applicationKind, "argocd", name)
	var resources []any
	for _, child := range children {
		resources = append(resources, map[string]any{"kind": "Application", "name": child})
	}
	o.Object["status"] = map[string]any{
		"sync":      map[string]any{"status": sync, "revision": revision},
		"health":    map[string]any{"status": health},
		"resources": resources,
	}
	return o
}

func withCondition(o *unstructured.Unstructured, kind, message string) *unstructured.Unstructured {
	_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"type": kind, "message": message}}, "status", "conditions")
	return o
}

func onCluster(objects ...client.Object) *Pipeline {
	p := &Pipeline{Target: Target{Choices: values.Choices{ArgoCDNamespace: "argocd"}}}
	p.Client = fake.NewClientBuilder().WithObjects(objects...).Build()
	return p
}

func TestTheWaitReportsWhatIsMissing(t *testing.T) {
	pulling := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: OperatorNamespace, Name: "manager"},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such host"},
		}}}},
	}
	pending := pulling.DeepCopy()
	pending.Status = corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "containers with unready status"},
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no Node"},
	}}
	root := func(children ...string) *unstructured.Unstructured {
		return application(RootApplication, "Synced", "Healthy", "new", children...)
	}
	tests := map[string]struct {
		objects []client.Object
		want    string // empty: everything is healthy
	}{
		"all are healthy at the commit": {[]client.Object{root("a"), application("a", "Synced", "Healthy", "new")}, ""},
		"the root is at another commit": {[]client.Object{application(RootApplication, "Synced", "Healthy", "old")}, "memcached-root is Synced and Healthy"},
		"a child is at another commit":  {[]client.Object{root("a"), application("a", "Synced", "Healthy", "old")}, "a is Synced and Healthy"},
		"of several, the one that exists": {[]client.Object{root("a", "b"), application("b", "Synced", "Progressing", "new")},
			"b is Synced and Progressing"},
		"of several, the one with an error": {[]client.Object{
			root("a", "b"), application("a", "Synced", "Progressing", "new"),
			withCondition(application("b", "Unknown", "Healthy", "new"), "ComparisonError", "can't fetch"),
		}, "b is Unknown and Healthy: can't fetch"},
		"the root lists what it waits for": {[]client.Object{
			withCondition(application(RootApplication, "OutOfSync", "Progressing", "new", "a", "b"), "", "waiting for b"),
			application("a", "Synced", "Progressing", "new"),
		}, "a is Synced and Progressing"},
		"the root fails, so its children are missing": {[]client.Object{
			withCondition(application(RootApplication, "Unknown", "Healthy", "", "a"), "ComparisonError", "can't fetch"),
			application("a", "Unknown", "Missing", ""),
		}, "memcached-root is Unknown and Healthy: can't fetch"},
		"a Pod does not run": {[]client.Object{root("a"), application("a", "Synced", "Progressing", "new"), pulling},
			"a is Synced and Progressing; Pod manager: ErrImagePull: no such host"},
		"a Pod is not scheduled": {[]client.Object{root("a"), application("a", "Synced", "Progressing", "new"), pending},
			"a is Synced and Progressing; Pod manager: Unschedulable: no Node"},
	}
	for name, tc := range tests {
		last := ""
		err := onCluster(tc.objects...).WaitHealthy(t.Context(), "new", 50*time.Millisecond, func(s string) { last = s })
		isReported := err != nil && strings.Contains(err.Error(), "after 50ms (--timeout), at commit new: "+tc.want)
		if (err == nil) != (tc.want == "") || err != nil && !isReported || last != tc.want {
			t.Errorf("%s: error %v, update %q, want %q", name, err, last, tc.want)
		}
	}
}

func TestAFailedRootApplicationEndsTheWaitSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := withCondition(application(RootApplication, "Unknown", "Healthy", "", "a"), "ComparisonError", "can't fetch")
		started := time.Now()
		err := onCluster(root).WaitHealthy(t.Context(), "new", time.Hour, func(string) {})
		if err == nil || !strings.HasPrefix(err.Error(), "memcached-root is Unknown and Healthy: can't fetch") {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(started).Round(time.Second); waited != rootPatience {
			t.Errorf("it ended after %s, want %s", waited, rootPatience)
		}
	})
}

func TestArgoCDLooksForTheCommitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := application(RootApplication, "Synced", "Healthy", "old")
		p := onCluster(late)
		if err := p.WaitHealthy(t.Context(), "new", time.Second, func(string) {}); err == nil {
			t.Error("no error")
		}
		err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(late), late)
		if err != nil || late.GetAnnotations()["argocd.argoproj.io/refresh"] != "normal" || late.GetResourceVersion() != "1000" {
			t.Errorf("annotations %v, version %s, error %v", late.GetAnnotations(), late.GetResourceVersion(), err)
		}
	})
}

func TestOnlySomeErrorsEndTheWait(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "applications"}, RootApplication, nil)
	for first, want := range map[error]error{forbidden: forbidden, errors.New("connection refused"): nil} {
		p := onCluster(application(RootApplication, "Synced", "Healthy", "new"))
		p.Client = interceptor.NewClient(p.Client, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
				err := errors.Join(first, c.Get(ctx, key, o))
				first = nil
				return err
			},
		})
		if err := p.WaitHealthy(t.Context(), "new", time.Minute, func(string) {}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
