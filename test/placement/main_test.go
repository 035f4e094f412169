//go:build e2e

// Package placement shows where Pods go: the operator's own binary, with the generated role, and the real scheduler in
// a cluster of simulated nodes. Nothing runs in the Pods; it is about their places alone.
package placement

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const (
	repository = "../.."

	// managerRole is the operator's role, as config/default names it.
	managerRole = "memcached-operator-manager-role"

	// wideUser has the role in the whole cluster, narrowUser only in the namespaces of tests that say so.
	wideUser   = "system:serviceaccount:memcached-operator-system:wide"
	narrowUser = "system:serviceaccount:memcached-operator-system:narrow"
)

// What TestMain starts, for all tests.
var (
	cluster        *local.Cluster
	kube           client.Client
	operatorBinary string
	kubeconfigs    string // folder of them, by user
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	log.SetLogger(logr.Discard())
	ctx := context.Background() //nolint:forbidigo // TestMain has no test to take a context from.
	dir, err := os.MkdirTemp("", "placement-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	stop, err := start(ctx, dir)
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the simulated cluster:", err)
		return 1
	}
	return m.Run()
}

// start brings the cluster up, installs the operator's manifests and builds the operator. What it returns stops all
// that did start, also after an error.
func start(ctx context.Context, dir string) (stop func(), err error) {
	stop = func() {}
	name, err := clusterName()
	if err != nil {
		return stop, err
	}
	cluster, err = local.Up(ctx, local.Options{Simulated: true, Name: name, Attached: true})
	if err != nil {
		return stop, err
	}
	if !cluster.Created {
		return stop, fmt.Errorf("cluster %s runs already: another run of these tests is in progress in this folder", name)
	}
	stop = func() {
		if err := cluster.Down(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := connect(); err != nil {
		return stop, err
	}
	if err := install(ctx); err != nil {
		return stop, err
	}
	kubeconfigs, operatorBinary = dir, filepath.Join(dir, "manager")
	build := exec.CommandContext(ctx, "go", "build", "-o", operatorBinary, repository+"/operator/cmd/manager")
	if out, err := build.CombinedOutput(); err != nil {
		return stop, fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	return stop, errors.Join(writeKubeconfig("wide", wideUser), writeKubeconfig("narrow", narrowUser))
}

// clusterName differs for each copy of the repository, so that tests may run in several at a time.
func clusterName() (string, error) {
	dir, err := os.Getwd()
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("placement-%x", sum[:4]), err
}

func connect() error {
	config, err := cluster.RESTConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return err
	}
	if kube, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	crds := []string{repository + "/operator/config/crd/bases"}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: crds})
	return err
}

// install applies the operator's role as users do, and gives it to the user of the cluster-wide operator.
func install(ctx context.Context) error {
	objects, err := kustomize.Objects(repository + "/operator/config/default")
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GetKind() != "ClusterRole" {
			continue
		}
		role := client.ApplyConfigurationFromUnstructured(object)
		if err := kube.Apply(ctx, role, client.FieldOwner("test")); err != nil {
			return err
		}
	}
	return kube.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "wide"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: managerRole},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: wideUser}},
	})
}

// writeKubeconfig writes one by which the administrator acts as another user, with the rights of that one alone.
func writeKubeconfig(name, user string) error {
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
	if err != nil {
		return err
	}
	for _, account := range config.AuthInfos {
		account.Impersonate = user
	}
	return clientcmd.WriteToFile(*config, filepath.Join(kubeconfigs, name))
}
