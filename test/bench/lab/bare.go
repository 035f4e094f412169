package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

// Bare starts an API server and its etcd, and nothing else: nobody makes Pods, nobody writes a status but the operator.
func Bare(ctx context.Context, tree, dir string, programs Programs) (*Lab, error) {
	assets, err := builds.Assets(ctx)
	if err != nil {
		return nil, err
	}
	policy, audit := filepath.Join(dir, "audit-policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	env.ControlPlane.GetAPIServer().Configure().
		Append("audit-log-path", audit).
		Append("audit-log-maxsize", "10000"). // MiB: the log is read on, and must not be turned over under the reader.
		Append("audit-policy-file", policy)
	config, err := env.Start()
	if err != nil {
		return nil, errors.Join(err, env.Stop())
	}
	l, err := newLab(ctx, tree, dir, programs, config)
	if err != nil {
		return nil, errors.Join(err, env.Stop())
	}
	l.Audit, l.stop = &Audit{path: audit}, env.Stop
	return l, nil
}
