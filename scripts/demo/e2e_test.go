//go:build e2e

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/command"
	"github.com/example-inc/memcached-operator/internal/testing/site"
	"github.com/example-inc/memcached-operator/internal/testing/soak"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// TestTheDemoOnACurrentCluster runs the demo for users who have a cluster, on a local cluster. The demo gets only the
// cluster's kubeconfig, registry and Git repository.
func TestTheDemoOnACurrentCluster(t *testing.T) {
	soak.Only(t, "make demo")
	cluster := site.Cluster(t, local.Options{Name: "current", ArgoCD: true, Needs: preflight.Memcached()})
	memcached, _, err := oci.Memcached(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	memcachedImage, err := oci.Push(t.Context(), memcached, cluster.Image("memcached", "e2e"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", cluster.Kubeconfig)
	args := []string{
		"current", "--method", "direct", "--registry", cluster.Registry, "--repo", cluster.Git,
		"--memcached-image", memcachedImage, "--timeout", "5m",
	}

	t.Run("changes nothing before the user agrees", func(t *testing.T) {
		if out, err := command.Run(t, newCommand(), args...); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("error %v\n%s", err, out)
		}
		if changes := changesOf(t, cluster); len(changes) > 0 {
			t.Errorf("the audit log has %v", changes)
		}
		if refs := tree.Git(t, "", "ls-remote", cluster.Git); refs != "" {
			t.Errorf("Git has %s", refs)
		}
	})
	t.Run("ends with keys in a cache", func(t *testing.T) {
		out, err := command.Run(t, newCommand(), append(args, "--yes")...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{
			"memcached-root       Synced   Healthy", "memcached-samples    Synced   Healthy",
			"A second client found 1000 keys on 3 Pods, 0 of them on more than one.",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("has no %q:\n%s", want, out)
			}
		}
		if len(changesOf(t, cluster)) == 0 {
			t.Error("the audit log has no change by the demo: the test above proves nothing")
		}
	})
	t.Run("continues with what it installed", func(t *testing.T) {
		before := tree.Git(t, "", "ls-remote", cluster.Git)
		out, err := command.Run(t, newCommand(), append(args, "--yes")...)
		if err != nil || !strings.Contains(out, "A second client found 1000 keys") {
			t.Errorf("%v\n%s", err, out)
		}
		if after := tree.Git(t, "", "ls-remote", cluster.Git); after != before {
			t.Errorf("Git had %s, and has %s", before, after)
		}
	})
	t.Run("refuses another install method at the same time", func(t *testing.T) {
		out, err := command.Run(t, newCommand(), append(args, "--yes", "--method", "olm-v1")...)
		if err == nil || !strings.Contains(out, "two operators would reconcile the same Memcacheds") {
			t.Errorf("error %v\n%s", err, out)
		}
	})
}

// changesOf returns the demo's requests in the audit log that change something.
func changesOf(t *testing.T, cluster *local.Cluster) []audit.Request {
	t.Helper()
	requests, _, err := audit.Log{Path: cluster.AuditLog}.Read(0)
	if err != nil {
		t.Fatal(err)
	}
	requests = slices.DeleteFunc(requests, func(r audit.Request) bool { return r.UserAgent != pipeline.UserAgent })
	if len(requests) == 0 {
		t.Errorf("the audit log has no request by %s", pipeline.UserAgent)
	}
	return slices.DeleteFunc(requests, func(r audit.Request) bool {
		return slices.Contains([]string{"get", "list", "watch"}, r.Verb) || strings.Contains(r.URI, "dryRun=All")
	})
}
