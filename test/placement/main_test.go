//go:build e2e

// Package placement tests on which Nodes Pods run. It uses the operator's own binary with the generated role, and the
// real scheduler, in a cluster of simulated Nodes. No program runs in the Pods.
package placement

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/operator"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

const (
	repository = "../.."

	// narrowUser is a user who has the operator's role only in the namespaces of tests whose field narrow is true. The
	// operator's own service account has the role in the whole cluster.
	narrowUser = "system:serviceaccount:" + install.Namespace + ":narrow"
)

// TestMain sets these variables, for all tests.
var (
	cluster        *local.Cluster
	kube           client.Client
	operatorBinary string
	kubeconfigs    string // folder with a kubeconfig for each user
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

// start starts the cluster, applies the operator's manifests and builds the operator. The function stop stops
// everything that was started. It is returned even after an error.
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
	config, err := cluster.RESTConfig()
	if err != nil {
		return stop, err
	}
	if kube, err = install.NewClient(config); err != nil {
		return stop, err
	}
	if err := install.Manifests(ctx, config, kube, repository, "Deployment"); err != nil {
		return stop, err
	}
	kubeconfigs = dir
	if operatorBinary, err = operator.Build(ctx, repository, dir); err != nil {
		return stop, err
	}
	return stop, errors.Join(writeKubeconfig("wide", install.User), writeKubeconfig("narrow", narrowUser))
}

// clusterName returns a name that differs for each copy of the repository, so that tests can run in several copies at a
// time.
func clusterName() (string, error) {
	dir, err := os.Getwd()
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("placement-%x", sum[:4]), err
}

// writeKubeconfig writes a kubeconfig with which the administrator impersonates another user, and has only the rights
// of this user.
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
