package simulated

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// keeperName is the name under which this program starts itself again, to keep the parts of a cluster.
const (
	keeperName = "memcached-operator-simulated"
	keeperLog  = "keeper"
)

// detached is what `up` writes once it lets go of a cluster that is ready.
const detached = "detached\n"

// event is what the keeper tells `up`.
type event struct {
	Process Process // that runs now
	Error   string  // that ended the start
	Ready   bool    // all of them
}

// init takes the program over when it was started under the name above. Being here, it works for every program that
// can start a cluster, tests included.
func init() {
	if os.Args[0] != keeperName {
		return
	}
	if err := keep(rundir.Dir(os.Args[1])); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", keeperName, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// startKeeper starts this program again, as the leader of a process group that all parts will belong to.
func startKeeper(dir rundir.Dir) (*keeperProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirDoor, door, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirDoor.Close()
	events, theirEvents, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirEvents.Close()
	log, err := dir.OpenLog(keeperLog)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := &exec.Cmd{
		Path: program, Args: []string{keeperName, string(dir)}, Dir: "/",
		Stdin: theirDoor, Stdout: theirEvents, Stderr: log,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // Ctrl-C at the terminal is for `up`
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait() }() // whoever outlives it, as a test does, has to reap it
	return &keeperProcess{pid: cmd.Process.Pid, events: events, door: door}, nil
}

// keep starts the parts, and ends them all when it is told to, when `up` ends before its time, or when one of them
// ends by itself.
func keep(dir rundir.Dir) error {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var config keeperConfig
	if err := rundir.ReadJSON(configPath(dir), &config); err != nil {
		return err
	}
	group, err := joinGroup(dir)
	if err != nil {
		return err
	}
	k := &keeper{keeperConfig: config, dir: dir, group: group, cancel: cancel, events: json.NewEncoder(os.Stdout)}
	go func() {
		if line, err := bufio.NewReader(os.Stdin).ReadString('\n'); line != detached {
			cancel(fmt.Errorf("whoever started the cluster is gone: %w", err))
		}
	}()
	if err := k.start(ctx); err != nil {
		_ = k.events.Encode(event{Error: err.Error()})
		cancel(err)
	} else {
		_ = k.events.Encode(event{Ready: true})
	}
	<-ctx.Done()
	k.running.Wait()
	return context.Cause(ctx)
}

// joinGroup takes the two locks of a cluster. The record lock tells who keeps it. The other one is inherited by every
// part, so that it is free only when none is left, and while it is not, the number of the process group can't have
// passed on to others.
func joinGroup(dir rundir.Dir) (*os.File, error) {
	if err := rundir.Hold(dir.Lock()); err != nil {
		return nil, err
	}
	group, err := os.OpenFile(groupLock(dir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(group.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("processes of this cluster still run: %w", err)
	}
	return group, rundir.WriteJSON(groupPath(dir), os.Getpid())
}

func groupLock(dir rundir.Dir) string  { return dir.Path("group.lock") }
func groupPath(dir rundir.Dir) string  { return dir.Path("group.json") }
func configPath(dir rundir.Dir) string { return dir.Path("config.json") }

// run starts a part. When it ends before it is told to, so does the cluster.
func (k *keeper) run(ctx context.Context, name string, args ...string) error {
	log, err := k.dir.OpenLog(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, k.Binaries[name], args...)
	cmd.Args[0] = name
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + string(k.dir), "TMPDIR=" + os.TempDir()}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{k.group}
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = partTimeout
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	k.running.Go(func() {
		err := cmd.Wait()
		if ctx.Err() == nil {
			k.cancel(fmt.Errorf("%s ended (%w)\n%s", name, err, rundir.Tail(log.Name())))
		}
		_ = log.Close()
	})
	return k.events.Encode(event{Process: Process{name, cmd.Process.Pid}})
}
