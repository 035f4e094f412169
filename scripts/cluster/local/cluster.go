// Package local brings a whole real Kubernetes cluster up on one Linux machine and takes it down
// again: control plane, node, DNS, image registry, Git repository and Argo CD, without Docker.
//
//	cluster, err := local.Up(ctx, local.Options{Name: "e2e", ArgoCD: true})
//	defer local.Down(ctx, "e2e")
package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// ErrNotRunning says that no cluster of that name runs.
var ErrNotRunning = errors.New("not running")

// Cluster is a running cluster, as the rest of the machine sees it.
type Cluster struct {
	Name          string    `json:"name"`
	Kubeconfig    string    `json:"kubeconfig"` // of an administrator, for programs on this machine
	Registry      string    `json:"registry"`   // host:port, the same in image references everywhere
	Git           string    `json:"git"`        // URL of a bare repository, for pushing and for Argo CD alike
	Logs          string    `json:"logs"`       // folder, one file for each part
	AuditLog      string    `json:"auditLog"`   // every request to the API server, one JSON object a line
	Kubectl       string    `json:"kubectl"`    // of the cluster's own version
	Kubernetes    string    `json:"kubernetes"` // version
	ArgoCD        bool      `json:"argocd"`
	ArgoCDVersion string    `json:"argocdVersion,omitempty"`
	Started       time.Time `json:"started"`
	PartNames     []string  `json:"parts"`
	Pid           int       `json:"pid"` // of the first process; nothing of the cluster survives it

	// Created tells a cluster that Up made from one that it found.
	Created bool `json:"-"`
}

// RESTConfig is for clients on this machine.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
}

// Image returns a reference in the cluster's registry, for pushing and for Pods alike.
func (c *Cluster) Image(repository, tag string) string {
	return fmt.Sprintf("%s/%s:%s", c.Registry, repository, tag)
}

// Find returns a running cluster, or ErrNotRunning.
func Find(name string) (*Cluster, error) {
	dir, err := dirOf(name)
	if err != nil {
		return nil, err
	}
	pid, err := rundir.Holder(dir.Lock())
	if err != nil {
		return nil, err
	}
	if pid == 0 {
		return nil, fmt.Errorf("cluster %q: %w", name, ErrNotRunning)
	}
	cluster := &Cluster{}
	if err := rundir.ReadJSON(statePath(dir), cluster); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cluster %q is just being started: %w", name, ErrNotRunning)
		}
		return nil, err
	}
	cluster.Pid = pid
	return cluster, nil
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,19}$`)

// maxDir leaves room for the kubelet's sockets in the 107 bytes that the kernel allows a socket's path.
const maxDir = 107 - len("/kubelet/device-plugins/kubelet.sock")

func dirOf(name string) (rundir.Dir, error) {
	if !validName.MatchString(name) {
		return "", fmt.Errorf("cluster name %q: want at most 20 lower case letters, digits and dashes", name)
	}
	home, err := builds.CacheHome()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, "clusters", name)
	if len(dir) > maxDir {
		return "", fmt.Errorf("%s is too long for the sockets in it: set XDG_CACHE_HOME to a shorter path", dir)
	}
	return rundir.Dir(dir), nil
}

func statePath(dir rundir.Dir) string { return dir.Path("state.json") }

// exclusive keeps a second up or down of the same cluster away. Its lock lies beside the run
// directory, which comes and goes.
func exclusive(name string) (dir rundir.Dir, release func(), err error) {
	if dir, err = dirOf(name); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(filepath.Dir(string(dir)), 0o755); err != nil {
		return "", nil, err
	}
	release, err = rundir.Exclusive(string(dir) + ".lock")
	return dir, release, err
}
