package supervisor

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

func (s *supervisor) startControlPlane(ctx context.Context) error {
	if err := s.startParts(ctx, s.etcd()); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.apiServer()); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.controllerManager(), s.scheduler()); err != nil {
		return err
	}
	if err := await(ctx, s.accountReady); err != nil {
		return fmt.Errorf("no service account for Pods: %w\n%s", err, rundir.Tail(s.Dir.Log("kube-controller-manager")))
	}
	return nil
}

func (s *supervisor) etcd() *part {
	pki := s.Dir.PKI
	own := fmt.Sprintf("https://127.0.0.1:%d", s.Ports.Etcd)
	peer := fmt.Sprintf("https://127.0.0.1:%d", s.Ports.EtcdPeer)
	return &part{
		name: "etcd",
		args: []string{
			"--data-dir=" + s.Dir.Path("etcd"),
			"--unsafe-no-fsync",                // the data lives no longer than the cluster
			"--quota-backend-bytes=8589934592", // ten thousand caches with their Pods need more than the default of 2 GiB
			"--log-level=warn",
			"--enable-grpc-gateway=false",
			"--listen-client-urls=" + own, "--advertise-client-urls=" + own,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
			// Every user of this machine can connect to the loopback interface: only a certificate gives access.
			"--client-cert-auth", "--trusted-ca-file=" + pki("ca.crt"),
			"--cert-file=" + pki("server.crt"), "--key-file=" + pki("server.key"),
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + pki("ca.crt"),
			"--peer-cert-file=" + pki("server.crt"), "--peer-key-file=" + pki("server.key"),
		},
		ready: accepts("tcp", fmt.Sprintf("127.0.0.1:%d", s.Ports.Etcd)),
	}
}

func (s *supervisor) apiServer() *part {
	pki := s.Dir.PKI
	args := []string{
		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", s.Ports.Etcd),
		"--etcd-cafile=" + pki("ca.crt"), "--etcd-certfile=" + pki("admin.crt"), "--etcd-keyfile=" + pki("admin.key"),
		fmt.Sprintf("--secure-port=%d", s.Ports.API),
		"--service-cluster-ip-range=" + serviceNetwork,
		"--tls-cert-file=" + pki("server.crt"), "--tls-private-key-file=" + pki("server.key"),
		"--client-ca-file=" + pki("ca.crt"),
		"--kubelet-client-certificate=" + pki("admin.crt"), "--kubelet-client-key=" + pki("admin.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("sa.crt"), "--service-account-signing-key-file=" + pki("sa.key"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged",
		"--requestheader-client-ca-file=" + pki("ca.crt"),
		"--requestheader-allowed-names=front-proxy", // else every certificate of this authority could claim any user
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy.crt"), "--proxy-client-key-file=" + pki("front-proxy.key"),
		"--audit-policy-file=" + s.Dir.Path("audit-policy.yaml"),
		"--audit-log-path=" + s.Dir.Log("audit"),
		fmt.Sprintf("--audit-log-maxsize=%d", s.AuditMiB),
	}
	if s.Real {
		args = append(args, "--advertise-address="+NodeIP)
	} else { // nothing runs in Pods that would look for the API server
		args = append(args, "--bind-address=127.0.0.1", "--endpoint-reconciler-type=none")
	}
	ready := healthy(fmt.Sprintf("https://127.0.0.1:%d/readyz", s.Ports.API))
	return &part{name: "kube-apiserver", args: args, ready: ready}
}

func (s *supervisor) controllerManager() *part {
	pki := s.Dir.PKI
	args := []string{
		"--kubeconfig=" + s.Dir.Kubeconfig("kube-controller-manager"),
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + pki("sa.key"),
		"--root-ca-file=" + pki("ca.crt"),
		"--cluster-signing-cert-file=" + pki("ca.crt"), "--cluster-signing-key-file=" + pki("ca.key"),
		"--cluster-cidr=" + podNetwork,
		"--allocate-node-cidrs=false",                 // the one Node has the whole range
		"--kube-api-qps=500", "--kube-api-burst=1000", // the defaults delay the first Pods for seconds
	}
	if !s.Real { // a simulated Node fails only when this machine is too busy for kwok's heartbeats
		args = append(args, "--node-monitor-grace-period=1h")
	}
	return &part{name: "kube-controller-manager", args: args}
}

func (s *supervisor) scheduler() *part {
	return &part{name: "kube-scheduler", args: []string{
		"--kubeconfig=" + s.Dir.Kubeconfig("kube-scheduler"),
		"--secure-port=0",
		"--leader-elect=false",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}}
}

// startSimulation starts kwok in the place of the kubelets.
func (s *supervisor) startSimulation(ctx context.Context) error {
	stages, err := filepath.Glob(s.Dir.Path("stages", "*.yaml"))
	if err != nil {
		return err
	}
	return s.startParts(ctx, &part{name: "kwok", args: []string{
		"--kubeconfig=" + s.Dir.Kubeconfig("kwok"), "--manage-all-nodes", "--config=" + strings.Join(stages, ","),
	}})
}
