package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// A client stores keys, and most of them must still be there when all Pods were replaced.
const (
	keys      = 1000
	leastKept = keys * 995 / 1000
)

// withSlots changes the tree: the sample has slots. The demo's clients do not outlive a replacement of Pods, so that a
// short delay before a Pod ends is enough.
func withSlots(dir string) error {
	return errors.Join(patchSample(dir, "/spec/slots", "{}"), patchSample(dir, "/spec/terminationDelaySeconds", "3"))
}

// patchSample adds a field to the sample of the tree.
func patchSample(dir, path, value string) error {
	size := worktree.Place{File: "gitops/samples/kustomization.yaml", Find: `(?m)^        value: (\d+)$`}
	count, err := size.Read(dir)
	if err != nil {
		return err
	}
	return size.Write(dir, count+"\n      - op: add\n        path: "+path+"\n        value: "+value)
}

// reach are the arguments of a client that works with the keys.
func reach(mc *cachev1.Memcached, verb string) []string {
	return append(clientpod.Reach(mc), verb, fmt.Sprintf("--keys=%d", keys))
}

// replacePods commits more memory for the sample, which replaces all its Pods, and returns how many keys a client then
// finds.
func (d *demo) replacePods(
	ctx context.Context, update func(string), clients clientpod.Clients, mc *cachev1.Memcached,
) (found int, err error) {
	before := mc.Status.Nodes
	commit, err := d.Git.Commit(ctx, "More memory for the sample", func(dir string) error {
		return patchSample(dir, "/spec/memory", "128Mi")
	})
	if err != nil {
		return 0, err
	}
	if err := d.waitHealthy(ctx, commit, update); err != nil {
		return 0, err
	}
	if err := d.Client.Get(ctx, client.ObjectKeyFromObject(mc), mc); err != nil {
		return 0, err
	}
	if slices.ContainsFunc(mc.Status.Nodes, func(pod string) bool { return slices.Contains(before, pod) }) {
		return 0, fmt.Errorf("the cache had the Pods %s and has %s: not all were replaced", before, mc.Status.Nodes)
	}
	got, err := clients.Run(ctx, update, reach(mc, "get")...)
	if err == nil && got.Found < leastKept {
		err = fmt.Errorf("%d of %d keys are still there after all Pods were replaced: status.slots has the reason "+
			"(docs/slots.md, When a handoff fails): %s --kubeconfig %s -n %s get memcached %s -o yaml",
			got.Found, keys, d.Cluster.Kubectl, d.Cluster.Kubeconfig, mc.Namespace, mc.Name)
	}
	return got.Found, err
}
