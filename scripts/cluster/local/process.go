package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/sandbox"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// process is the supervisor of a cluster, while the cluster starts.
type process struct {
	pid    int
	events *json.Decoder
	stdin  io.WriteCloser // the cluster ends if this is closed before detach was called
}

// start runs `cluster supervise`. A socket stays in the network namespace in which it was made, so only the two sockets
// that the supervisor inherits connect an isolated cluster to the machine.
func start(ctx context.Context, config supervisor.Config, ports ports) (*process, error) {
	program, err := builds.Self(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := config.Dir.Hold()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	log, err := config.Dir.OpenLog("supervisor")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, "supervise", string(config.Dir))
	cmd.Dir, cmd.Stderr = "/", log
	cmd.ExtraFiles = []*os.File{lock}
	if config.Real {
		api, err1 := ports[0].File()
		registry, err2 := ports[1].File()
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		defer api.Close()
		defer registry.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, api, registry)
	}
	ports.Close()
	cmd.SysProcAttr = sandbox.Attributes(config.Real)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	go func() { _, _ = cmd.Process.Wait() }() // a caller that outlives the supervisor has to reap it
	return &process{pid: cmd.Process.Pid, events: json.NewDecoder(stdout), stdin: stdin},
		rundir.WriteJSON(config.Dir.Pid(), cmd.Process.Pid)
}

// detach lets the cluster outlive the caller.
func (p *process) detach() error {
	_, err := io.WriteString(p.stdin, supervisor.Detach)
	return errors.Join(err, p.stdin.Close())
}

// follow shows the supervisor's stages until the cluster is ready or its start has failed. It returns the names of the
// cluster's processes.
func (p *process) follow(ctx context.Context, dir rundir.Dir) (parts []string, err error) {
	event, err := p.next(dir)
	for err == nil && event.Stage != "" {
		err = progress.Stage(ctx, event.Stage, func(update func(string)) error {
			for event, err = p.next(dir); err == nil && event.Part != ""; event, err = p.next(dir) {
				parts = append(parts, event.Part)
				update(event.Part + " is ready")
			}
			return err
		})
	}
	return parts, err
}

func (p *process) next(dir rundir.Dir) (event supervisor.Event, err error) {
	err = p.events.Decode(&event)
	if err != nil {
		return event, fmt.Errorf("the supervisor ended (%w)\n%s", err, rundir.Tail(dir.Log("supervisor")))
	}
	if event.Error != "" {
		err = errors.New(event.Error)
	}
	return event, err
}
