// Package integration runs the operator's own binary, with the service account and the generated role that it has in a
// cluster, against a real API server and the real workload controllers. Only the kubelet is missing, so each test makes
// its Pods ready.
package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/operator"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const (
	repository = "../.."

	operatorNamespace = "memcached-operator-system"

	// operatorUser is the user of operators that have rights only in the namespaces of their worlds.
	operatorUser = "system:serviceaccount:" + operatorNamespace + ":memcached-operator-controller-manager"

	// clusterOperatorUser is the user of operators that have all rights in the manifests, in the whole cluster.
	clusterOperatorUser = "system:serviceaccount:" + operatorNamespace + ":cluster-wide"

	fewCollections = 400 // percent

	// patience is how long steps may take that normally take milliseconds.
	patience = 2 * time.Minute
)

// TestMain sets these variables, for all tests.
var (
	cluster               client.WithWatch
	config                *rest.Config
	audit                 *auditLog
	operatorBinary        string
	operatorKubeconfig    string
	clusterKubeconfig     string
	controllersKubeconfig string // of a user with all rights
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	log.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS is not set: run these tests by `make test`, which builds the API server")
		return 1
	}
	dir, err := os.MkdirTemp("", "integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// This process and the API server use half of the CPU time, and have enough memory, so they collect garbage less
	// often.
	debug.SetGCPercent(fewCollections)
	_ = os.Setenv("GOGC", strconv.Itoa(fewCollections))
	stop, err := start(dir, assets)
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the integration environment:", err)
		return 1
	}
	code := m.Run()
	if wide := audit.clusterWide(); len(wide) > 0 {
		fmt.Fprintln(os.Stderr, "operators that serve namespaces reached beyond them:", wide)
		return 1
	}
	return code
}

// start starts the API server and the workload controllers, applies the operator's manifests, and builds the operator.
// The function stop stops everything that was started. It is returned even after an error.
func start(dir, assets string) (stop func(), err error) {
	audit = newAuditLog(dir)
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	env.ControlPlane.GetAPIServer().Configure().
		Append("audit-log-path", audit.Path).
		Append("audit-log-maxsize", "10000"). // MiB: the log is read as one file.
		Append("audit-policy-file", audit.policy)
	stop = func() { _ = env.Stop() }
	if config, err = env.Start(); err != nil {
		return stop, err
	}
	config.QPS = -1
	if cluster, err = install.NewClient(config); err != nil {
		return stop, err
	}
	controllers, err := startControllers(dir, assets, env)
	if err != nil {
		return stop, err
	}
	stop = func() { controllers(); _ = env.Stop() }
	if err := applyManifests(context.Background()); err != nil { //nolint:forbidigo // TestMain has no test to take a context from.
		return stop, err
	}
	if operatorBinary, err = operator.Build(context.Background(), repository, dir); err != nil { //nolint:forbidigo // the same
		return stop, err
	}
	if operatorKubeconfig, err = kubeconfig(dir, env, operatorUser); err != nil {
		return stop, err
	}
	clusterKubeconfig, err = kubeconfig(dir, env, clusterOperatorUser)
	return stop, err
}

// startControllers runs the kube-controller-manager with the controllers that caches need.
func startControllers(dir, assets string, env *envtest.Environment) (stop func(), err error) {
	if controllersKubeconfig, err = kubeconfig(dir, env, "controllers", "system:masters"); err != nil {
		return nil, err
	}
	logFile, err := os.Create(filepath.Join(dir, "kube-controller-manager.log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(assets, "kube-controller-manager"),
		"--kubeconfig="+controllersKubeconfig, "--leader-elect=false", "--secure-port=0",
		"--controllers=deployment-controller,replicaset-controller,garbage-collector-controller,"+
			"horizontal-pod-autoscaler-controller,disruption-controller,resourcequota-controller,job-controller",
		"--horizontal-pod-autoscaler-sync-period=1s", "--kube-api-qps=1000", "--kube-api-burst=1000",
		"--concurrent-deployment-syncs=20", "--concurrent-replicaset-syncs=20")
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = logFile.Close() }, nil
}

// kubeconfig writes a kubeconfig for a user, and returns its path.
func kubeconfig(dir string, env *envtest.Environment, user string, groups ...string) (string, error) {
	account, err := env.AddUser(envtest.User{Name: user, Groups: groups}, nil)
	if err != nil {
		return "", err
	}
	content, err := account.KubeConfig()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("%x.kubeconfig", user))
	return path, os.WriteFile(path, content, 0o600)
}

// applyManifests applies the operator as users install it, except its Deployment, because the tests run its binary. It
// binds the roles to the user of the cluster-wide operator.
func applyManifests(ctx context.Context) error {
	objects, err := kustomize.Objects(repository + "/overlays/multiarch")
	if err != nil {
		return err
	}
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment":
			continue
		case "ClusterRoleBinding", "RoleBinding":
			object.Object["subjects"] = []any{map[string]any{
				"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": clusterOperatorUser,
			}}
		}
		err = cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"))
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{repository + "/operator/config/crd/bases"}})
	return err
}
