package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/sandbox"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// metadataOnly is an audit policy. It records which user did what to which object, without the object's content. It
// omits the first of a request's two stages, because the second stage has all data of the first.
const metadataOnly = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

// These are the sizes at which the API server begins another audit log. The large size is for callers who give a
// policy, because these callers read the log while it grows.
const (
	auditMiB    = 100
	auditAllMiB = 10_000
)

// prepare adds the paths of programs on this machine to the supervisor's config, and writes the files that the
// processes of the cluster read when they start.
func prepare(ctx context.Context, opts Options, config *supervisor.Config) (err error) {
	if config.Real {
		config.CNIDir, err = preflight.CNIDir()
	}
	if config.ArgoCD && err == nil {
		config.Binaries["redis-server"], err = preflight.Program("redis-server")
	}
	dir := config.Dir
	err = cmp.Or(err,
		writeAccess(dir, opts.Name, config.Ports.API),
		worktree.WriteFile(dir.Path("audit-policy.yaml"), []byte(cmp.Or(opts.AuditPolicy, metadataOnly)), 0o600),
		rundir.WriteJSON(dir.Config(), config),
	)
	if err != nil {
		return err
	}
	if opts.Simulated { // these files say what kwok does with Nodes and Pods
		return copyFiles(ctx, builds.Kwok, dir.Path("stages"), "kustomize/stage/node/fast/node-*.yaml",
			"kustomize/stage/node/heartbeat-with-lease/node-*.yaml", "kustomize/stage/pod/fast/pod-*.yaml")
	}
	_, err = worktree.Git(ctx, "", "init", "--quiet", "--bare", "--initial-branch=main", dir.Path("repo.git"))
	if err != nil {
		return err
	}
	if opts.ArgoCD {
		// Argo CD's CRDs, default settings and scripts come from the same module as its programs, so they always fit the
		// programs.
		err := errors.Join(
			copyFiles(ctx, builds.ArgoCD, dir.Path("argocd", "manifests"),
				"manifests/crds/*-crd.yaml", "manifests/base/config/argocd-*.yaml"),
			copyFiles(ctx, builds.ArgoCD, dir.Path("argocd", "bin"), "hack/git-verify-wrapper.sh"),
		)
		if err != nil {
			return err
		}
	}
	group := sandbox.Cgroup(string(dir))
	if opts.SecondNode {
		return errors.Join(sandbox.Create(group), sandbox.Create(filepath.Join(group, supervisor.SecondNodeGroup)))
	}
	return sandbox.Create(group)
}

// copyFiles copies files from the module that a component is built from.
func copyFiles(ctx context.Context, component *builds.Component, to string, patterns ...string) error {
	module, err := component.ModuleDir(ctx)
	if err != nil {
		return err
	}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(module, pattern))
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			return fmt.Errorf("%s has no %s", module, pattern)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := worktree.WriteFile(filepath.Join(to, filepath.Base(path)), content, 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// pushPause puts the image of each Pod's sandbox container into the registry, under the reference that containerd
// pulls.
func pushPause(ctx context.Context, ref string) error {
	return progress.Stage(ctx, "Pause image", func(func(string)) error {
		image, err := oci.Pause.Build(ctx)
		if err != nil {
			return err
		}
		_, err = oci.Push(ctx, image, ref)
		return err
	})
}
