package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Up returns a running cluster: the one that runs already, or a new one. When it fails, it leaves nothing behind but
// the logs, and those go with the next up or down.
func Up(ctx context.Context, opts Options) (*Cluster, error) {
	if running, err := Find(opts.Name); err == nil {
		return running, nil
	}
	binaries, err := builds.Ensure(ctx, builds.Simulated()...)
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
	if err != nil {
		_, stopErr := stop(context.WithoutCancel(ctx), dir)
		return nil, errors.Join(err, stopErr)
	}
	return cluster, nil
}

func create(ctx context.Context, opts Options, dir rundir.Dir, binaries builds.Binaries) (*Cluster, error) {
	cluster, err := describe(opts, dir, binaries)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, dir, opts, binaries); err != nil {
		return nil, err
	}
	keeper, err := startKeeper(dir)
	if err != nil {
		return nil, err
	}
	// An interrupted up must not wait for a start that nobody wants any more.
	release := context.AfterFunc(ctx, keeper.abandon)
	defer release()
	cluster.Pid = keeper.pid
	if err := bringUp(ctx, cluster, opts.Architectures, keeper, dir); err != nil {
		keeper.abandon()
		return nil, err
	}
	if opts.Attached {
		cluster.keeper = keeper.door
		return cluster, nil
	}
	return cluster, keeper.detach()
}

// bringUp waits for the control plane, and adds the first nodes.
func bringUp(
	ctx context.Context, cluster *Cluster, architectures []string, keeper *keeperProcess, dir rundir.Dir,
) error {
	err := progress.Stage(ctx, "Control plane", func(update func(string)) (err error) {
		cluster.Processes, err = follow(json.NewDecoder(keeper.events), dir, update)
		return err
	})
	if err != nil {
		return err
	}
	err = progress.Stage(ctx, "Simulated nodes", func(update func(string)) error {
		return cluster.addFirstNodes(ctx, architectures, update)
	})
	if err != nil {
		return err
	}
	return rundir.WriteJSON(dir.State(), cluster)
}

func describe(opts Options, dir rundir.Dir, binaries builds.Binaries) (*Cluster, error) {
	version, err := builds.Version(builds.KubeAPIServer)
	cluster := &Cluster{
		Name:       opts.Name,
		Kubeconfig: dir.Path("kubeconfig"),
		Logs:       dir.Logs(),
		Kubectl:    binaries.Path(builds.Kubectl),
		Kubernetes: version,
		Started:    time.Now().Truncate(time.Second),
		Created:    true,
	}
	if opts.AuditPolicy != "" {
		cluster.AuditLog = auditLog(dir)
	}
	return cluster, err
}

// follow listens to the keeper until all parts run, and returns their processes.
func follow(events *json.Decoder, dir rundir.Dir, update func(string)) (processes []Process, err error) {
	for {
		var told event
		if err := events.Decode(&told); err != nil {
			return nil, fmt.Errorf("the cluster's first process ended (%w)\n%s", err, rundir.Tail(dir.Log(keeperLog)))
		}
		switch {
		case told.Error != "":
			return nil, errors.New(told.Error)
		case told.Ready:
			return processes, nil
		}
		processes = append(processes, told.Process)
		update(told.Process.Name + " runs")
	}
}

// addFirstNodes names them after their architectures.
func (c *Cluster) addFirstNodes(ctx context.Context, architectures []string, update func(string)) error {
	count := map[string]int{}
	for _, architecture := range architectures {
		count[architecture]++
		node := Node{Name: fmt.Sprintf("%s-%d", architecture, count[architecture]), Architecture: architecture}
		if err := c.AddNode(ctx, node); err != nil {
			return err
		}
		update(node.Name + " is ready")
	}
	return nil
}

// keeperProcess is the process that keeps the cluster, as the one who started it sees it.
type keeperProcess struct {
	pid    int
	events *os.File
	door   *os.File // the keeper ends when this closes before it is told to go on alone
}

// abandon ends the cluster.
func (k *keeperProcess) abandon() { _ = k.door.Close() }

func (k *keeperProcess) detach() error {
	_, err := k.door.WriteString(detached)
	return errors.Join(err, k.door.Close(), k.events.Close())
}
