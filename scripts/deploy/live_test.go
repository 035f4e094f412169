package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// live is a real API server, with stand-ins for the controllers of Deployments and Namespaces.
type live struct {
	client.Client
	kubeconfig string
}

func newLive(t *testing.T) *live {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: this test needs etcd and kube-apiserver. " +
			"`make test` builds them, sets it, and runs all tests.")
	}
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	l := &live{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	if err := os.WriteFile(l.kubeconfig, env.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if l.Client, err = client.New(config, client.Options{Scheme: scheme.Scheme}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			l.reportDeployments(t.Context())
			l.finishNamespaces(t.Context())
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { <-done })
	return l
}

// reportDeployments sets the status of all Deployments to ready, except of those with the annotation test: stuck.
func (l *live) reportDeployments(ctx context.Context) {
	var list appsv1.DeploymentList
	_ = l.List(ctx, &list)
	for _, d := range list.Items {
		if d.Status.ObservedGeneration == d.Generation || d.Annotations["test"] == "stuck" {
			continue
		}
		replicas := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: replicas, UpdatedReplicas: replicas,
			ReadyReplicas: replicas, AvailableReplicas: replicas,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		_ = l.Status().Update(ctx, &d)
	}
}

func (l *live) finishNamespaces(ctx context.Context) {
	var list corev1.NamespaceList
	_ = l.List(ctx, &list)
	for _, n := range list.Items {
		if n.DeletionTimestamp != nil {
			n.Spec.Finalizers = nil
			_ = l.SubResource("finalize").Update(ctx, &n)
		}
	}
}

// run runs the program, and returns the action for each object, what it printed, and its exit code.
func (l *live) run(t *testing.T, args ...string) (actions map[string]string, printed string, code int) {
	t.Helper()
	var out strings.Builder
	code = run(t.Context(), append(args, "--kubeconfig", l.kubeconfig), &out, &out)
	actions = map[string]string{}
	for _, match := range resultLine.FindAllStringSubmatch(out.String(), -1) {
		actions[match[1]] = match[2]
	}
	return actions, out.String(), code
}

var resultLine = regexp.MustCompile(`(?m)^([^\s:]+/[^\s:]+) (\w+)(: .*)?$`)

// mustRun fails the test unless the program succeeds.
func (l *live) mustRun(t *testing.T, args ...string) (actions map[string]string) {
	t.Helper()
	actions, printed, code := l.run(t, args...)
	if code != 0 {
		t.Fatalf("deploy %v: exit code %d: %s", args, code, printed)
	}
	return actions
}

// fails fails the test unless the program exits with 2, and prints an error with these texts.
func (l *live) fails(t *testing.T, want []string, args ...string) {
	t.Helper()
	_, printed, code := l.run(t, args...)
	for _, text := range want {
		if _, err, _ := strings.Cut(printed, "error: "); code != 2 || !strings.Contains(err, text) {
			t.Errorf("deploy %v: exit code %d, want 2 and %q:\n%s", args, code, text, printed)
		}
	}
}
