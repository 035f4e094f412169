// Package environment is what the bench measures in: a real API server with an audit log and the operator's manifests,
// and the operator's own binary as a process with its own service account.
package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// The operator's namespace, service account and user.
const (
	namespace = "memcached-operator-system"
	account   = "memcached-operator-controller-manager"

	OperatorUser = "system:serviceaccount:" + namespace + ":" + account
)

// auditPolicy logs each request of the operator and of the baseline, which acts as the operator, and what the bench
// changes and deletes. What the bench creates is left out: it is much, and no figure needs it. Only the requests that
// the baseline repeats are logged with their bodies.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
  - level: Request
    users: ["` + OperatorUser + `"]
    namespaces: ["` + recordedNamespace + `"]
  - level: Metadata
    users: ["` + OperatorUser + `"]
  - level: Metadata
    users: [admin]
    verbs: [patch, delete]
  - level: None
`

// Folders are where an environment finds and leaves files.
type Folders struct {
	Tree     string // of the repository
	Programs string // where Build leaves them
	Run      string // of this environment only
}

// Environment is a running API server, and what it takes to run an operator against it.
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
func (e *Environment) prepare(ctx context.Context) error {
	e.config.QPS = -1
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme))
	if err != nil {
		return err
	}
	if e.Client, err = client.New(e.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if err := e.install(ctx, filepath.Join(e.folders.Tree, "operator/config/default")); err != nil {
		return fmt.Errorf("install the operator's manifests: %w", err)
	}
	return errors.Join(e.createNamespaces(ctx), e.writeKubeconfig(ctx))
}

func (e *Environment) install(ctx context.Context, manifests string) error {
	objects, err := kustomize.Objects(manifests)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			continue
		}
		apply := client.ApplyConfigurationFromUnstructured(object)
		if err := e.Client.Apply(ctx, apply, client.FieldOwner("bench")); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	_, err = envtest.InstallCRDs(e.config, envtest.CRDInstallOptions{ // It also waits until they are served.
		Paths: []string{filepath.Join(manifests, "../crd/bases")},
	})
	return err
}

// tokenLife is longer than any run.
const tokenLife = 12 * time.Hour

// writeKubeconfig writes one with a token of the operator's service account.
func (e *Environment) writeKubeconfig(ctx context.Context) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenLife.Seconds())),
	}}
	operator := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	if err := e.Client.SubResource("token").Create(ctx, operator, request); err != nil {
		return fmt.Errorf("get a token of the operator's service account: %w", err)
	}
	e.kubeconfig = filepath.Join(e.folders.Run, "operator.kubeconfig")
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"bench": {
			Server: e.config.Host, CertificateAuthorityData: e.config.CAData, CertificateAuthority: e.config.CAFile,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"operator": {Token: request.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"bench": {Cluster: "bench", AuthInfo: "operator"}},
		CurrentContext: "bench",
	}, e.kubeconfig)
}
