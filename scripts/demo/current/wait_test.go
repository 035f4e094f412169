package current

import (
	"context"
	"errors"
	"strings"
	"testing"
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

	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// application is an Application as Argo CD leaves it.
func application(name, sync, health, revision string, children ...string) *unstructured.Unstructured {
	object := demotest.Object("argoproj.io/v1alpha1", "Application", "argocd", name)
	var resources []any
	for _, child := range children {
		resources = append(resources, map[string]any{"kind": "Application", "name": child})
	}
	object.Object["status"] = map[string]any{
		"sync":      map[string]any{"status": sync, "revision": revision},
		"health":    map[string]any{"status": health},
		"resources": resources,
	}
	return object
}

func withMessage(object *unstructured.Unstructured, message string) *unstructured.Unstructured {
	conditions := []any{map[string]any{"message": message}}
	_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
	return object
}

// waiting is a demo on a cluster of these objects.
func waiting(objects ...client.Object) *demo {
	return &demo{
		Subject: check.Subject{
			Options: target.Options{ArgoCDNamespace: "argocd"},
			Kube:    &target.Kube{Client: fake.NewClientBuilder().WithObjects(objects...).Build()},
		},
		options: Options{Timeout: 100 * time.Millisecond},
	}
}

func TestWhatIsWaitedFor(t *testing.T) {
	pulling := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "memcached-operator-system", Name: "manager"},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such host"},
		}}}},
	}
	root := func(children ...string) *unstructured.Unstructured {
		return application(argo.Root, "Synced", "Healthy", "new", children...)
	}
	tests := map[string]struct {
		objects []client.Object
		want    string // none: it is over
	}{
		"all are healthy at the commit": {[]client.Object{root("a"), application("a", "Synced", "Healthy", "new")}, ""},
		"there is no root":              {nil, "memcached-root is Unknown and Missing"},
		"the root is at another commit": {[]client.Object{application(argo.Root, "Synced", "Healthy", "old")}, "memcached-root is Synced and Healthy"},
		"a child is at another commit":  {[]client.Object{root("a"), application("a", "Synced", "Healthy", "old")}, "a is Synced and Healthy"},
		"a child is not there yet":      {[]client.Object{root("a")}, "a is Unknown and Missing"},
		"of several, the one that is there tells more": {[]client.Object{root("a", "b"), application("b", "Synced", "Progressing", "new")},
			"b is Synced and Progressing"},
		"of several, the one that has an error tells most": {[]client.Object{
			root("a", "b"), application("a", "Synced", "Progressing", "new"),
			withMessage(application("b", "Unknown", "Healthy", "new"), "can't fetch"),
		}, "b is Unknown and Healthy: can't fetch"},
		"the root tells only where none below it does": {[]client.Object{
			withMessage(application(argo.Root, "OutOfSync", "Progressing", "new", "a", "b"), "waiting for b"),
			application("a", "Synced", "Progressing", "new"),
		}, "a is Synced and Progressing"},
		"the root tells of an error of its own": {[]client.Object{
			withMessage(application(argo.Root, "Unknown", "Healthy", "", "a"), "can't fetch"),
		}, "memcached-root is Unknown and Healthy: can't fetch"},
		"a Pod that does not run tells why": {[]client.Object{root("a"), application("a", "Synced", "Progressing", "new"), pulling},
			"a is Synced and Progressing; Pod manager: ErrImagePull: no such host"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			told := ""
			err := waiting(tc.objects...).waitHealthy(t.Context(), "new", func(s string) { told = s })
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "after 100ms (--timeout)") {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			if told != shorten(tc.want) {
				t.Errorf("told %q, want %q", told, tc.want)
			}
		})
	}
}

func TestArgoCDIsToldOnceToLookForTheCommit(t *testing.T) {
	late, current, fresh := application("late", "Synced", "Healthy", "old"), application("current", "Synced", "Progressing", "new"), application("fresh", "", "", "")
	d := waiting(late, current, fresh)
	told, done := []string{}, map[string]bool{}
	for range 2 {
		all := []*argo.Application{{Name: "late", Revision: "old"}, {Name: "current", Revision: "new"}, {Name: "fresh"}}
		d.refresh(t.Context(), all, "new", done)
		for _, object := range []*unstructured.Unstructured{late, current, fresh} {
			if err := d.Kube.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if object.GetAnnotations()["argocd.argoproj.io/refresh"] == "normal" {
				told = append(told, object.GetName())
				object.SetAnnotations(nil) // as Argo CD does when it has looked
				if err := d.Kube.Client.Update(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"late"}, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnAPIServerThatIsAwayForAMomentIsWaitedFor(t *testing.T) {
	d := waiting(application(argo.Root, "Synced", "Healthy", "new"))
	d.options.Timeout = time.Minute
	away := errors.New("connection refused")
	d.Kube.Client = interceptor.NewClient(d.Kube.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return errors.Join(away, c.Get(ctx, key, o, opts...))
		},
	})
	told := ""
	if err := d.waitHealthy(t.Context(), "new", func(s string) { told, away = s, nil }); err != nil {
		t.Error(err)
	}
	if told != "connection refused" {
		t.Errorf("told %q", told)
	}
}

func TestAWaitThatIsForbiddenEndsAtOnce(t *testing.T) {
	d := waiting()
	d.options.Timeout = time.Minute
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "applications"}, argo.Root, nil)
	d.Kube.Client = interceptor.NewClient(d.Kube.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return forbidden
		},
	})
	if err := d.waitHealthy(t.Context(), "new", func(string) {}); !apierrors.IsForbidden(err) {
		t.Errorf("error %v", err)
	}
}

func TestAnInterruptEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := waiting()
	d.options.Timeout = time.Hour
	err := d.waitHealthy(ctx, "new", func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLongMessagesAreShortened(t *testing.T) {
	if got := shorten("two\nlines"); got != "two lines" {
		t.Errorf("%q", got)
	}
	if got := []rune(shorten(strings.Repeat("é", 200))); len(got) != brief || got[brief-1] != '…' {
		t.Errorf("%d characters: %s", len(got), string(got))
	}
}
