package local

import (
	"context"
	"errors"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Up returns a running cluster: the one that already runs, or a new one. If Up fails or is interrupted, it leaves only
// the logs, which the next Up or Down deletes.
func Up(ctx context.Context, opts Options) (*Cluster, error) {
	programs, err := opts.programs()
	if err != nil {
		return nil, err
	}
	if !opts.Simulated {
		needs := append(preflight.Cluster(opts.ArgoCD), opts.Needs...)
		if err := preflight.Ensure(ctx, needs, !opts.NoInstall); err != nil {
			return nil, err
		}
	}
	if running, err := Find(opts.Name); err == nil {
		return running, opts.accept(running)
	}
	binaries, err := builds.Ensure(ctx, programs...)
	if err != nil {
		return nil, err
	}
	dir, err := rundir.Named(opts.Name)
	if err != nil {
		return nil, err
	}
	release, err := dir.Alone()
	if err != nil {
		return nil, err
	}
	defer release()
	// Files and processes of an earlier run that was killed must not prevent this start.
	if err := clean(ctx, dir); err != nil {
		return nil, err
	}
	cluster, err := create(ctx, opts, dir, binaries)
	if err == nil {
		return cluster, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx) // instead of the error that the interrupt caused
	}
	return nil, errors.Join(err, stop(context.WithoutCancel(ctx), dir))
}

func create(ctx context.Context, opts Options, dir rundir.Dir, binaries map[string]string) (*Cluster, error) {
	ports, err := openPorts(opts.Simulated)
	if err != nil {
		return nil, err
	}
	defer ports.Close()
	config := supervisor.Config{
		Dir: dir, Ports: ports.numbers(), Binaries: binaries, Real: !opts.Simulated, ArgoCD: opts.ArgoCD, AuditMiB: auditMiB,
		SecondNode: opts.SecondNode,
	}
	if opts.AuditPolicy != "" {
		config.AuditMiB = auditAllMiB
	}
	cluster, err := describe(opts, config)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, opts, &config); err != nil {
		return nil, err
	}
	process, err := start(ctx, config, ports)
	if err != nil {
		return nil, err
	}
	// An interrupted up must not wait for the start to end.
	release := context.AfterFunc(ctx, func() { _ = process.stdin.Close() })
	defer release()
	cluster.Pid = process.pid
	if cluster.PartNames, err = process.follow(ctx, dir); err != nil {
		return nil, err
	}
	if err := cluster.finish(ctx, opts, dir); err != nil {
		return nil, err
	}
	if opts.Attached {
		cluster.attached = process.stdin
		return cluster, nil
	}
	return cluster, process.detach()
}

// finish carries out the steps that need a running control plane.
func (c *Cluster) finish(ctx context.Context, opts Options, dir rundir.Dir) (err error) {
	if opts.Simulated {
		err = progress.Stage(ctx, "Simulated Nodes", func(update func(string)) error {
			return c.addFirstNodes(ctx, opts.Architectures, update)
		})
	} else {
		err = pushPause(ctx, c.Image("pause", "1"))
	}
	if err != nil {
		return err
	}
	return rundir.WriteJSON(dir.State(), c)
}

func describe(opts Options, config supervisor.Config) (cluster *Cluster, err error) {
	dir := config.Dir
	cluster = &Cluster{
		Name:       opts.Name,
		Simulated:  opts.Simulated,
		Kubeconfig: dir.Path("kubeconfig"),
		Logs:       dir.Logs(),
		AuditLog:   dir.Log("audit"),
		Kubectl:    config.Binaries["kubectl"],
		ArgoCD:     opts.ArgoCD,
		Started:    time.Now().Truncate(time.Second),
		Created:    true,
	}
	if config.Real {
		cluster.Registry, cluster.Git = config.Registry(), "file://"+dir.Path("repo.git")
	}
	if opts.ArgoCD {
		if cluster.ArgoCDVersion, err = builds.ArgoCD.Version(); err != nil {
			return nil, err
		}
	}
	cluster.Kubernetes, err = builds.Kubernetes.Version()
	return cluster, err
}
