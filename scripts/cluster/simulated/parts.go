package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// keeperConfig is all that the keeper is told. It lies in the run directory.
type keeperConfig struct {
	Binaries                    map[string]string
	APIPort, EtcdPort, PeerPort int
	Audited                     bool
}

// keeper keeps the parts of one cluster.
type keeper struct {
	keeperConfig
	dir     rundir.Dir
	group   *os.File
	events  *json.Encoder
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
}

// start starts each part when those that it needs are there.
func (k *keeper) start(ctx context.Context) error {
	if err := k.run(ctx, "etcd", k.etcd()...); err != nil {
		return err
	}
	if err := k.run(ctx, "kube-apiserver", k.apiServer()...); err != nil {
		return err
	}
	// The roles of the others are there once the API server says that it is ready.
	if err := k.await(ctx, k.apiServerReady); err != nil {
		return fmt.Errorf("kube-apiserver is not ready: %w\n%s", err, rundir.Tail(k.dir.Log("kube-apiserver")))
	}
	kubeconfig := func(user string) string { return "--kubeconfig=" + k.dir.Kubeconfig(user) }
	err := k.run(ctx, "kube-controller-manager", kubeconfig("kube-controller-manager"),
		"--leader-elect=false", "--secure-port=0", "--use-service-account-credentials",
		"--service-account-private-key-file="+k.dir.PKI("sa.key"), "--root-ca-file="+k.dir.PKI("ca.crt"),
		"--kube-api-qps=500", "--kube-api-burst=1000", // the defaults hold the first Pods back for seconds
		"--node-monitor-grace-period=1h") // a node fails only when this machine is too busy for kwok's heartbeats
	if err != nil {
		return err
	}
	err = k.run(ctx, "kube-scheduler", kubeconfig("kube-scheduler"), "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000")
	if err != nil {
		return err
	}
	err = k.run(ctx, "kwok", kubeconfig("kwok"), "--manage-all-nodes", "--config="+stagesPath(k.dir))
	if err != nil {
		return err
	}
	// Pods can be made once they get their service account.
	if err := k.await(ctx, k.accountsReady); err != nil {
		return fmt.Errorf("there is no service account for Pods: %w\n%s", err,
			rundir.Tail(k.dir.Log("kube-controller-manager")))
	}
	return nil
}

func (k *keeper) etcd() []string {
	pki := k.dir.PKI
	own := fmt.Sprintf("https://127.0.0.1:%d", k.EtcdPort)
	peer := fmt.Sprintf("https://127.0.0.1:%d", k.PeerPort)
	return []string{
		"--data-dir=" + k.dir.Path("etcd"),
		"--unsafe-no-fsync",                // the data lives no longer than the cluster
		"--quota-backend-bytes=8589934592", // ten thousand caches with their Pods need more than the default of 2 GiB
		"--log-level=warn",
		"--enable-grpc-gateway=false",
		"--listen-client-urls=" + own, "--advertise-client-urls=" + own,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		// The loopback interface is everybody's on this machine: who can't show a certificate stays out.
		"--client-cert-auth", "--trusted-ca-file=" + pki("ca.crt"),
		"--cert-file=" + pki("server.crt"), "--key-file=" + pki("server.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + pki("ca.crt"),
		"--peer-cert-file=" + pki("server.crt"), "--peer-key-file=" + pki("server.key"),
	}
}

func (k *keeper) apiServer() []string {
	pki := k.dir.PKI
	args := []string{
		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", k.EtcdPort),
		"--etcd-cafile=" + pki("ca.crt"), "--etcd-certfile=" + pki("admin.crt"), "--etcd-keyfile=" + pki("admin.key"),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", k.APIPort),
		"--endpoint-reconciler-type=none", // nothing runs in Pods that would look for the API server
		"--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + pki("server.crt"), "--tls-private-key-file=" + pki("server.key"),
		"--client-ca-file=" + pki("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("sa.crt"), "--service-account-signing-key-file=" + pki("sa.key"),
		"--authorization-mode=RBAC",
	}
	if k.Audited {
		args = append(args, "--audit-policy-file="+auditPolicy(k.dir), "--audit-log-path="+auditLog(k.dir),
			"--audit-log-maxsize=10000") // MiB: whoever reads on in the log must not have it turned over
	}
	return args
}

func (k *keeper) await(ctx context.Context, ready func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollPause, readyTimeout, true, func(ctx context.Context) (bool, error) {
		last = ready(ctx)
		return last == nil, nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx) // one of them ended, and that says more
	}
	if err != nil {
		return last
	}
	return nil
}

func (k *keeper) cluster() *Cluster { return &Cluster{Kubeconfig: k.dir.Path("kubeconfig")} }

func (k *keeper) apiServerReady(ctx context.Context) error {
	config, err := k.cluster().RESTConfig()
	if err != nil {
		return err
	}
	kube, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	return kube.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func (k *keeper) accountsReady(ctx context.Context) error {
	kube, err := k.cluster().client()
	if err != nil {
		return err
	}
	return kube.Get(ctx, client.ObjectKey{Namespace: "default", Name: "default"}, &corev1.ServiceAccount{})
}
