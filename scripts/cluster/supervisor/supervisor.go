// Package supervisor is the first process of a cluster: it starts the other processes, restarts those that end, and
// ends all of them when it ends. `up` starts it as `cluster supervise`:
//
//	up ── supervisor ── etcd, kube-apiserver, …, containerd ── Pods
//
// For a cluster with a real Node, the supervisor isolates itself first (package sandbox). For simulated Nodes, all
// processes are ordinary ones.
package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/inetaf/tcpproxy"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/sandbox"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// These are the addresses in a cluster with a real Node. Every cluster has the same addresses, because no cluster can
// reach the network of another cluster.
const (
	NodeIP          = "10.200.0.2"
	APIServerIP     = "10.96.0.1"
	dnsIP           = "10.96.0.10"
	serviceNetwork  = "10.96.0.0/16"
	podNetwork      = "10.244.0.0/16"
	ArgoCDNamespace = "argocd"
)

// Config is the whole configuration of the supervisor, which it reads from a file in the run directory.
type Config struct {
	Dir        rundir.Dir
	Ports      Ports
	Binaries   map[string]string
	Real       bool // the cluster has a real Node, and is isolated; otherwise the Nodes are simulated
	SecondNode bool // the cluster has another real Node, with a taint
	CNIDir     string
	ArgoCD     bool
	AuditMiB   int // size of an audit log before the next one begins
}

// Ports are ports on the loopback interface. They are the same inside of the cluster's namespaces and outside.
type Ports struct{ API, Registry, Etcd, EtcdPeer int }

// Registry returns the host and port of image references, which are the same on the machine and in the cluster.
func (c Config) Registry() string { return fmt.Sprintf("localhost:%d", c.Ports.Registry) }

// Event is a report of the supervisor, which writes each event as a JSON object to its standard output.
type Event struct {
	Stage string // the stage that begins
	Part  string // the process that is ready now
	Error string // the error that ended the start
	Ready bool   // whether the whole cluster is ready
}

// Detach is the text that `up` writes to the supervisor's standard input, so that the cluster may outlive `up`.
const Detach = "detach\n"

// These are the open files that the supervisor inherits, in this order. Only a cluster with a real Node has the
// sockets. They were opened outside of the cluster's network namespace, and nothing else connects it to the machine.
const (
	lockFD = 3 + iota
	apiFD
	registryFD
)

type supervisor struct {
	Config
	lock     *os.File
	parts    []*part // all parts that a cluster may have
	children sync.Map
	kubectls atomic.Int32 // number of kubectl processes that run now
	running  sync.WaitGroup

	mu     sync.Mutex // several processes may become ready at the same time
	report *json.Encoder
}

// Run starts the cluster that is configured in the folder, and keeps it running until the context ends.
func Run(ctx context.Context, dir rundir.Dir) error {
	s := &supervisor{lock: os.NewFile(lockFD, "lock"), report: json.NewEncoder(os.Stdout)}
	for fd := lockFD; fd <= registryFD; fd++ {
		syscall.CloseOnExec(fd)
	}
	if err := errors.Join(rundir.ReadJSON(dir.Config(), &s.Config), s.readParts()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if line, err := bufio.NewReader(os.Stdin).ReadString('\n'); line != Detach {
			cancel(fmt.Errorf("up ended before the cluster was ready: %w", err))
		}
	}()
	if err := s.start(ctx); err != nil {
		err = errors.Join(context.Cause(ctx), err)
		_ = s.send(Event{Error: err.Error()})
		cancel(err)
	} else if err := s.send(Event{Ready: true}); err != nil {
		cancel(err)
	}
	<-ctx.Done()
	s.running.Wait()
	return context.Cause(ctx)
}

func (s *supervisor) send(event Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report.Encode(event)
}

// startSandbox isolates the cluster, and serves on the sockets that `up` opened outside of the sandbox.
func (s *supervisor) startSandbox(context.Context) error {
	keep := append(s.programFolders(), string(s.Dir), s.CNIDir)
	if err := sandbox.Enter(sandbox.Cgroup(string(s.Dir)), s.nodeIPs(), serviceNetwork, keep); err != nil {
		return err
	}
	go sandbox.Reap(s.owns)
	api, err := net.FileListener(os.NewFile(apiFD, "api"))
	if err != nil {
		return err
	}
	outside, err := net.FileListener(os.NewFile(registryFD, "registry"))
	if err != nil {
		return err
	}
	inside, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.Ports.Registry))
	if err != nil {
		return err
	}
	log, err := s.Dir.OpenLog("registry")
	if err != nil {
		return err
	}
	handler, err := oci.NewRegistry(s.Dir.Path("registry"), log)
	if err != nil {
		return err
	}
	for _, listener := range []net.Listener{inside, outside} {
		go func() { fmt.Fprintln(os.Stderr, "registry:", http.Serve(listener, handler)) }()
	}
	proxy := tcpproxy.Proxy{ListenFunc: func(string, string) (net.Listener, error) { return api, nil }}
	proxy.AddRoute("", tcpproxy.To(fmt.Sprintf("127.0.0.1:%d", s.Ports.API)))
	go func() { fmt.Fprintln(os.Stderr, "API server:", proxy.Run()) }()
	return nil
}

// programFolders returns the folders of the programs that were built, each once.
func (s *supervisor) programFolders() (dirs []string) {
	for _, binary := range s.Binaries {
		dirs = append(dirs, filepath.Dir(binary))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// path returns the search path of all processes: first the folders of the programs that were built, then the folders of
// the system.
func (s *supervisor) path() string {
	system := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	return strings.Join(append(s.programFolders(), system...), ":")
}
