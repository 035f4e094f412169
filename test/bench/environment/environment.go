// Package environment provides what the bench needs for its measurements: a real API server with an audit log and the
// operator's manifests, and the operator's own binary as a process that uses the operator's service account.
package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/install"
)

// auditPolicy logs each request of the operator and of the baseline, which uses the operator's identity, and the
// bench's changes and deletions. It omits the objects that the bench creates, except those of a Creator, because they
// are many and no figure needs them. Only the requests that the baseline repeats are logged with their bodies.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
  - level: Request
    users: ["` + install.User + `"]
    namespaces: ["` + recordedNamespace + `"]
  - level: Metadata
    users: ["` + install.User + `"]
  - level: Metadata
    users: [admin]
    verbs: [patch, delete]
  - level: Metadata
    users: [admin]
    verbs: [create]
    namespaces: ["` + recordedNamespace + `"]
  - level: None
`

// Folders are where an environment finds and leaves files.
type Folders struct {
	Tree     string // of the repository
	Programs string // where Build writes the programs
	Run      string // of this environment only
}

// Environment is a running API server, and all that is needed to run an operator against it.
type Environment struct {
	Client client.Client
	Audit  audit.Log

	folders    Folders
	config     *rest.Config
	kubeconfig string // of the operator's service account
	stop       func() error
}

// Build compiles the operator, as for an image, and the baseline.
func (f Folders) Build(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", f.Programs+"/",
		"./operator/cmd/manager", "./test/bench/baseline")
	build.Dir, build.Env = f.Tree, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return nil
}

// Close stops the API server.
func (e *Environment) Close() error { return e.stop() }

// prepare installs the operator, without its Deployment: the bench runs the binary.
func (e *Environment) prepare(ctx context.Context) (err error) {
	e.config.QPS = -1
	if e.Client, err = install.NewClient(e.config); err != nil {
		return err
	}
	if err := install.Manifests(ctx, e.config, e.Client, e.folders.Tree, "Deployment"); err != nil {
		return err
	}
	return errors.Join(e.createNamespaces(ctx), e.writeKubeconfig(ctx))
}

// writeKubeconfig writes a kubeconfig with a token of the operator's service account.
func (e *Environment) writeKubeconfig(ctx context.Context) error {
	operator, err := install.Connect(ctx, e.config, e.Client)
	if err != nil {
		return err
	}
	e.kubeconfig = filepath.Join(e.folders.Run, "operator.kubeconfig")
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"bench": {
			Server: e.config.Host, CertificateAuthorityData: e.config.CAData, CertificateAuthority: e.config.CAFile,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"operator": {Token: operator.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"bench": {Cluster: "bench", AuthInfo: "operator"}},
		CurrentContext: "bench",
	}, e.kubeconfig)
}
