package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/cgroups"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// The names under which this program starts itself again.
const (
	initName       = "memcached-operator-init"
	supervisorName = "memcached-operator-supervisor"
)

// The files that init and supervisor are started with.
const (
	reportFD = 3 + iota
	apiFD
	registryFD
)

// detach is what `up` writes once it lets go of a cluster that is ready.
const detach = "detach\n"

// init takes the program over when it was started under one of the names above. Being here, it
// works for every program that can start a cluster, tests included, without a word in their main.
func init() {
	stages := map[string]func(rundir.Dir) error{initName: runInit, supervisorName: runSupervisor}
	stage, ok := stages[os.Args[0]]
	if !ok {
		return
	}
	if err := stage(rundir.Dir(os.Args[1])); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Process is the init process of a cluster that starts.
type Process struct {
	*os.Process
	// Report carries Events from the supervisor. When it closes before Detach, the cluster ends.
	Report *os.File
}

// Detach lets the cluster live on without the caller.
func (p *Process) Detach() error {
	_, err := p.Report.WriteString(detach)
	// A caller that outlives the cluster, as a test does, is still the one who has to reap it.
	go func() { _, _ = p.Wait() }()
	return errors.Join(err, p.Report.Close())
}

// Start runs init in new namespaces. A socket stays in the network namespace that it was made in,
// so the two listeners are the cluster's only doors.
func Start(config Config, api, registry *os.File) (*Process, error) {
	if err := rundir.WriteJSON(configPath(config.Dir), config); err != nil {
		return nil, err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	report, theirs := os.NewFile(uintptr(ends[0]), "report"), os.NewFile(uintptr(ends[1]), "report")
	defer theirs.Close()
	log, err := config.Dir.OpenLog("supervisor")
	if err != nil {
		return nil, err
	}
	defer log.Close()

	cmd := again(initName, config.Dir, theirs, api, registry)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true, // Ctrl-C at the terminal is for `up`
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start in new namespaces: %w", err)
	}
	return &Process{Process: cmd.Process, Report: report}, nil
}

func again(name string, dir rundir.Dir, files ...*os.File) *exec.Cmd {
	return &exec.Cmd{Path: "/proc/self/exe", Args: []string{name, string(dir)}, Dir: "/", ExtraFiles: files}
}

// runInit is the first process of the namespace. It reaps what others leave behind, so that the
// supervisor can wait for its own children only, and takes the whole cluster with it when it ends.
func runInit(dir rundir.Dir) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM, unix.SIGINT)
	config, err := readConfig(dir)
	if err != nil {
		return err
	}
	if err := cgroups.Join(CgroupName(dir)); err != nil {
		return err
	}
	if err := isolate(config); err != nil {
		return err
	}
	if err := rundir.Hold(dir.Lock()); err != nil {
		return err
	}
	var files []*os.File
	for fd := uintptr(reportFD); fd <= registryFD; fd++ {
		files = append(files, os.NewFile(fd, ""))
	}
	supervisor := again(supervisorName, dir, files...)
	supervisor.Stdout, supervisor.Stderr = os.Stdout, os.Stderr
	if err := supervisor.Start(); err != nil {
		return err
	}
	for _, file := range files {
		file.Close() // or `up` would not notice the supervisor's end
	}
	go func() {
		<-stop
		os.Exit(0)
	}()
	return reap(supervisor.Process.Pid)
}

// reap collects every dead process until the one that matters is among them.
func reap(pid int) error {
	for {
		var status unix.WaitStatus
		dead, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case dead == pid:
			return fmt.Errorf("supervisor ended: status %d, signal %d", status.ExitStatus(), status.Signal())
		}
	}
}

func runSupervisor(dir rundir.Dir) error {
	config, err := readConfig(dir)
	if err != nil {
		return err
	}
	for fd := reportFD; fd <= registryFD; fd++ {
		unix.CloseOnExec(fd) // no part may hold the doors open
	}
	report := os.NewFile(reportFD, "report")
	api, err := net.FileListener(os.NewFile(apiFD, "api"))
	if err != nil {
		return err
	}
	registry, err := net.FileListener(os.NewFile(registryFD, "registry"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		// `up` is gone, however it went: what it began is not to be left half-way.
		if line, err := bufio.NewReader(report).ReadString('\n'); line != detach {
			cancel(fmt.Errorf("up ended before the cluster was ready: %w", err))
		}
	}()
	if err := run(ctx, config, report, api, registry); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func readConfig(dir rundir.Dir) (Config, error) {
	var config Config
	err := rundir.ReadJSON(configPath(dir), &config)
	return config, err
}
