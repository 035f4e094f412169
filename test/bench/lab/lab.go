// Package lab is where the bench measures: a real API server with an audit log, the operator's own manifests in it, and
// the operator's own binary as a process, with its own service account.
package lab

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

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// Namespace is the operator's.
const Namespace = "memcached-operator-system"

// Lab is an API server, and what is needed to run an operator against it.
type Lab struct {
	Client client.Client
	Audit  *Audit

	// Kubeconfig is that of the operator's service account.
	Kubeconfig string

	// Programs run beside the bench.
	Programs Programs

	dir    string
	config *rest.Config
	stop   func() error
}

// Programs are what runs as a process beside the bench.
type Programs struct{ Manager, Floor string }

// Build compiles them into a folder. The tree is that of the repository.
func Build(ctx context.Context, tree, dir string) (Programs, error) {
	programs := Programs{Manager: filepath.Join(dir, "manager"), Floor: filepath.Join(dir, "floor")}
	return programs, errors.Join(
		Compile(ctx, tree, "./operator/cmd/manager", programs.Manager),
		Compile(ctx, tree, "./test/bench/floor", programs.Floor))
}

// Compile compiles a program as for an image.
func Compile(ctx context.Context, tree, source, path string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, source)
	build.Dir, build.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return nil
}

// Close stops the API server.
func (l *Lab) Close() error { return l.stop() }

// newLab installs the operator in an API server that runs. Its own Deployment is left out: the bench runs the binary.
func newLab(ctx context.Context, tree, dir string, programs Programs, config *rest.Config) (*Lab, error) {
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	l := &Lab{
		Client: kube, Programs: programs, dir: dir, config: config,
		Kubeconfig: filepath.Join(dir, "operator.kubeconfig"),
	}
	if err := l.install(ctx, filepath.Join(tree, "operator/config/default")); err != nil {
		return nil, fmt.Errorf("install the operator's manifests: %w", err)
	}
	return l, errors.Join(l.makeNamespaces(ctx), l.writeKubeconfig(ctx))
}

func (l *Lab) install(ctx context.Context, manifests string) error {
	objects, err := kustomize.Objects(manifests)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			continue
		}
		if err := l.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("bench")); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	_, err = envtest.InstallCRDs(l.config, envtest.CRDInstallOptions{ // It also waits until they are served.
		Paths: []string{filepath.Join(manifests, "../crd/bases")},
	})
	return err
}

// tokenLife is longer than any run.
const tokenLife = 12 * time.Hour

// writeKubeconfig writes one with a token of the operator's service account.
func (l *Lab) writeKubeconfig(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: Namespace, Name: "memcached-operator-controller-manager",
	}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenLife.Seconds())),
	}}
	if err := l.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("get a token of the operator's service account: %w", err)
	}
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"bench": {
			Server: l.config.Host, CertificateAuthorityData: l.config.CAData, CertificateAuthority: l.config.CAFile,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"operator": {Token: request.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"bench": {Cluster: "bench", AuthInfo: "operator"}},
		CurrentContext: "bench",
	}, l.Kubeconfig)
}
