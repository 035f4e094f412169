// Package supervisor is what runs inside of a local cluster. The cluster has process, mount and
// network namespaces of its own, and a control group: when the first process of the process
// namespace ends, for whatever reason, the kernel ends all the others and takes mounts and network
// interfaces away with them. There is no path from the network namespace to any other.
//
//	up ── init ── supervisor ── etcd, kube-apiserver, …, containerd ── Pods
//
// Init and supervisor are this very program, started again under another name.
package supervisor

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// The network of a cluster. Every cluster has the same, as none sees another.
const (
	NodeIP          = "10.200.0.2"
	APIServerIP     = "10.96.0.1"
	DNSIP           = "10.96.0.10"
	ServiceNetwork  = "10.96.0.0/16"
	PodNetwork      = "10.244.0.0/16"
	APIPort         = 6443
	registryPort    = 5000
	nodeName        = "node1"
	ArgoCDNamespace = "argocd"
)

// Config is all that the supervisor is told. It lies in the run directory.
type Config struct {
	Dir rundir.Dir
	// RegistryHost is the registry's name in image references, the same on the host and in the cluster.
	RegistryHost string
	PauseImage   string
	Binaries     map[string]string
	CNIDir       string
	ArgoCD       bool
}

// CgroupName is the control group of a cluster, in every hierarchy. Clusters of one name in different
// caches are different clusters: stopping one must not find the other's processes.
func CgroupName(dir rundir.Dir) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("memcached-operator-%s-%x", filepath.Base(string(dir)), sum[:3])
}

func configPath(dir rundir.Dir) string { return dir.Path("config.json") }

// Event is a step of the start, as the supervisor tells it to `up`.
type Event struct {
	Stage string // that begins
	Part  string // that is ready now
	Error string // that ended the start
	Ready bool   // all of it
}

// supervisor is the state inside of the namespaces.
type supervisor struct {
	Config
	kube kube

	mu     sync.Mutex // parts become ready side by side
	report *json.Encoder
}

func (s *supervisor) tell(event Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report.Encode(event)
}

// run brings the cluster up stage by stage, and then keeps its parts alive until init ends it.
func run(ctx context.Context, config Config, report *os.File, api, registry net.Listener) error {
	s := &supervisor{Config: config, report: json.NewEncoder(report)}
	if err := s.start(ctx, api, registry); err != nil {
		_ = s.tell(Event{Error: err.Error()})
		return err
	}
	if err := s.tell(Event{Ready: true}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// stage is a step of the start that people are told of.
type stage struct {
	title string
	run   func(context.Context) error
}

func (s *supervisor) start(ctx context.Context, api, registry net.Listener) error {
	stages := []stage{
		{"Network and registry", func(context.Context) error { return s.startServices(api, registry) }},
		{"Control plane", s.startControlPlane},
		{"Node", s.startNode},
		{"Cluster DNS", s.startDNS},
	}
	if s.ArgoCD {
		stages = append(stages, stage{"Argo CD", s.startArgoCD})
	}
	for _, stage := range stages {
		if err := s.tell(Event{Stage: stage.title}); err != nil {
			return err
		}
		if err := stage.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startServices makes the network, and serves on it and on the sockets that `up` handed over.
func (s *supervisor) startServices(api, registry net.Listener) error {
	if err := setupNetwork(); err != nil {
		return fmt.Errorf("set up the network: %w", err)
	}
	inside, err := net.Listen("tcp", fmt.Sprintf("%s:%d", NodeIP, registryPort))
	if err != nil {
		return err
	}
	handler, err := newRegistry(s.Dir)
	if err != nil {
		return err
	}
	go func() { fmt.Fprintln(os.Stderr, "registry:", http.Serve(inside, handler)) }()
	go func() { fmt.Fprintln(os.Stderr, "registry:", http.Serve(registry, handler)) }()
	go forward(api, fmt.Sprintf("%s:%d", NodeIP, APIPort))
	return nil
}

// path is the search path of all parts: what was built, then the system's.
func (s *supervisor) path() string {
	var dirs []string
	for _, binary := range s.Binaries {
		dirs = append(dirs, filepath.Dir(binary))
	}
	slices.Sort(dirs)
	dirs = append(slices.Compact(dirs), "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
	return joinPath(dirs)
}
