package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/cgroups"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Up returns a running cluster: the one that runs already, or a new one. When it fails or is
// interrupted, it leaves nothing behind but the logs, and those go with the next up or down.
func Up(ctx context.Context, opts Options) (*Cluster, error) {
	programs, argoCDVersion, err := opts.programs()
	if err != nil {
		return nil, err
	}
	if err := preflight.Ensure(ctx, append(preflight.Cluster(opts.ArgoCD), opts.Needs...), !opts.NoInstall); err != nil {
		return nil, err
	}
	if running, err := Find(opts.Name); err == nil {
		if err := opts.accept(running, argoCDVersion); err != nil {
			return nil, err
		}
		return running, nil
	}
	opts.ArgoCDVersion = argoCDVersion
	binaries, err := builds.Ensure(ctx, programs...)
	if err != nil {
		return nil, err
	}
	dir, release, err := exclusive(opts.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	// What an earlier run left behind, if it was killed, must not stop this one.
	if _, err := clean(ctx, dir); err != nil {
		return nil, err
	}
	cluster, err := create(ctx, opts, dir, binaries)
	if err == nil {
		return cluster, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx) // rather than what that made of the start
	}
	_, stopErr := stop(context.WithoutCancel(ctx), dir)
	return nil, errors.Join(err, stopErr)
}

func create(ctx context.Context, opts Options, dir rundir.Dir, binaries builds.Binaries) (*Cluster, error) {
	ports, err := openPorts()
	if err != nil {
		return nil, err
	}
	defer ports.Close()
	cluster, err := describe(opts, dir, binaries, ports)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, dir, cluster, ports); err != nil {
		return nil, err
	}
	if err := cgroups.Create(supervisor.CgroupName(dir)); err != nil {
		return nil, err
	}
	config, err := configure(opts, dir, binaries, cluster)
	if err != nil {
		return nil, err
	}
	process, err := supervisor.Start(config, ports.api.file, ports.registry.file)
	if err != nil {
		return nil, err
	}
	cluster.Pid = process.Pid
	// An interrupted up must not wait for a start that nobody wants any more.
	release := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer release()
	if cluster.PartNames, err = follow(ctx, json.NewDecoder(process.Report), dir); err != nil {
		return nil, err
	}
	if err := pushPause(ctx, config.PauseImage); err != nil {
		return nil, err
	}
	if err := rundir.WriteJSON(dir.State(), cluster); err != nil {
		return nil, err
	}
	return cluster, process.Detach()
}

// follow shows the supervisor's stages until the cluster is ready, or can't become so, and returns
// the names of the parts.
func follow(ctx context.Context, events *json.Decoder, dir rundir.Dir) (parts []string, err error) {
	event, err := next(events, dir)
	for err == nil && event.Stage != "" {
		err = progress.Stage(ctx, event.Stage, func(update func(string)) error {
			for event, err = next(events, dir); err == nil && event.Part != ""; event, err = next(events, dir) {
				parts = append(parts, event.Part)
				update(event.Part + " is ready")
			}
			return err
		})
	}
	return parts, err
}

func next(events *json.Decoder, dir rundir.Dir) (supervisor.Event, error) {
	var event supervisor.Event
	err := events.Decode(&event)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
		return event, fmt.Errorf("the supervisor ended\n%s", rundir.Tail(dir.Log("supervisor")))
	case err != nil:
		return event, fmt.Errorf("listen to the supervisor: %w", err)
	case event.Error != "":
		return event, errors.New(event.Error)
	}
	return event, nil
}

func describe(opts Options, dir rundir.Dir, binaries builds.Binaries, ports *ports) (*Cluster, error) {
	version, err := builds.Version(builds.KubeAPIServer)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		Name:          opts.Name,
		Kubeconfig:    dir.Path("kubeconfig"),
		Registry:      fmt.Sprintf("localhost:%d", ports.registry.number),
		Git:           "file://" + dir.Path("repo.git"),
		Logs:          dir.Logs(),
		AuditLog:      dir.Log("audit"),
		Kubectl:       binaries.Path(builds.Kubectl),
		Kubernetes:    version,
		ArgoCD:        opts.ArgoCD,
		ArgoCDVersion: opts.ArgoCDVersion,
		Started:       time.Now().Truncate(time.Second),
		Created:       true,
	}, nil
}

func configure(opts Options, dir rundir.Dir, binaries builds.Binaries, cluster *Cluster) (supervisor.Config, error) {
	cni, err := preflight.CNIDir()
	if err != nil {
		return supervisor.Config{}, err
	}
	paths := map[string]string(binaries)
	if opts.ArgoCD {
		redis, err := preflight.Program("redis-server")
		if err != nil {
			return supervisor.Config{}, err
		}
		paths["redis-server"] = redis
	}
	return supervisor.Config{
		Dir:          dir,
		RegistryHost: cluster.Registry,
		PauseImage:   cluster.Image("pause", "1"),
		Binaries:     paths,
		CNIDir:       cni,
		ArgoCD:       opts.ArgoCD,
	}, nil
}
