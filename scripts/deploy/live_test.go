package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/command"
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

// run runs the command, and returns the action for each object, and what it printed.
func (l *live) run(t *testing.T, args ...string) (actions map[string]string, printed string, err error) {
	t.Helper()
	printed, err = command.Run(t, newCommand(), append(args, "--kubeconfig", l.Kubeconfig)...)
	actions = map[string]string{}
	for _, match := range resultLine.FindAllStringSubmatch(printed, -1) {
		actions[match[1]] = match[2]
	}
	return actions, printed, err
}

var resultLine = regexp.MustCompile(`(?m)^([^\s:]+/[^\s:]+) (\w+)(: .*)?$`)

// mustRun fails the test unless the command succeeds.
func (l *live) mustRun(t *testing.T, args ...string) (actions map[string]string) {
	t.Helper()
	actions, printed, err := l.run(t, args...)
	if err != nil {
		t.Fatalf("deploy %v: %v\n%s", args, err, printed)
	}
	return actions
}

// fails fails the test unless the command returns an error with these texts.
func (l *live) fails(t *testing.T, want []string, args ...string) {
	t.Helper()
	_, printed, err := l.run(t, args...)
	for _, text := range want {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("deploy %v: error %v has no %q:\n%s", args, err, text, printed)
		}
	}
}
