//go:build e2e

// Package e2e tests the whole pipeline on real clusters: commits are pushed to Git, Argo CD syncs them, the operator
// creates the Deployments, and clients send requests to the memcacheds in the Pods. No part of it is a mock.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

const (
	namespace         = "memcached-samples"
	argoNamespace     = "argocd"
	operatorNamespace = "memcached-operator-system"
	operatorName      = "memcached-operator-controller-manager"

	// patience is how long something may take that normally takes seconds.
	patience = 3 * time.Minute
)

// applications are the Applications of the tree, the root last.
var applications = []string{pipeline.OperatorApplication, pipeline.SamplesApplication, pipeline.RootApplication}

// These are the clusters. A test brings up the one that it needs.
var (
	// gitOps is a cluster with Argo CD. The operator is installed by a push to Git.
	gitOps = &site{name: "e2e-gitops", argoCD: true}

	// c is a cluster in which make deploy has installed the operator. Tests share it, and each test uses its own
	// namespaces.
	c = &site{name: "e2e", room: make(chan struct{}, 6), load: make(chan struct{}, 2)}

	sites = []*site{gitOps, c}
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	//nolint:forbidigo // TestMain has no test to take a context from.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := takeDown(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "take down what an earlier run left:", err)
		return 1
	}
	// An interrupted test binary ends without calling the cleanup functions, so this function stops the clusters.
	interrupted := context.AfterFunc(ctx, func() {
		_ = takeDown(context.WithoutCancel(ctx))
		os.Exit(1)
	})
	code := m.Run()
	if !interrupted() {
		select {} // Wait for the function that stops the clusters.
	}
	if os.Getenv("E2E_KEEP") != "" {
		for _, s := range sites {
			s.explain(os.Stdout)
		}
		return code
	}
	if err := takeDown(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "take the clusters down:", err)
		return 1
	}
	return code
}

func takeDown(ctx context.Context) error {
	var errs []error
	for _, s := range sites {
		_, err := local.Down(ctx, s.name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
