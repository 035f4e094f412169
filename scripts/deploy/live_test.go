package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// live is a real control plane, and a simulated Node.
type live struct {
	client.Client
	*local.Cluster
}

func newLive(t *testing.T) *live {
	t.Helper()
	options := local.Options{Name: "test-deploy", Simulated: true, Architectures: []string{"amd64"}, Attached: true}
	cluster, err := local.Up(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Down(context.WithoutCancel(t.Context())) })
	config, err := cluster.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	kube, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &live{kube, cluster}
}

// run runs the program, and returns the action for each object, what it printed, and its exit code.
func (l *live) run(t *testing.T, args ...string) (actions map[string]string, printed string, code int) {
	t.Helper()
	var out strings.Builder
	code = run(t.Context(), append(args, "--kubeconfig", l.Kubeconfig), &out, &out)
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
