package supervisor

import (
	"context"
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// auditPolicy records who did what to which object, and nothing of its content. The first of the
// two stages of a request tells nothing that the second doesn't.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

func (s *supervisor) startControlPlane(ctx context.Context) error {
	if err := rundir.Write(s.Dir.Path("audit-policy.yaml"), []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.etcd()); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.apiServer()); err != nil {
		return err
	}
	kube, err := newKube(s.Dir.Kubeconfig("admin"))
	if err != nil {
		return err
	}
	s.kube = kube
	return s.startParts(ctx, s.controllerManager(), s.scheduler())
}

func (s *supervisor) etcd() *part {
	return &part{
		name: "etcd",
		path: s.Binaries["etcd"],
		args: []string{
			"--data-dir=" + s.Dir.Path("etcd"),
			"--unsafe-no-fsync", // the data lives no longer than the machine stays up
			"--log-level=warn",
		},
		ready: healthy("http://127.0.0.1:2379/readyz"),
	}
}

func (s *supervisor) apiServer() *part {
	pki := s.Dir.PKI
	return &part{
		name: "kube-apiserver",
		path: s.Binaries["kube-apiserver"],
		args: []string{
			"--etcd-servers=http://127.0.0.1:2379",
			"--advertise-address=" + NodeIP,
			fmt.Sprintf("--secure-port=%d", APIPort),
			"--service-cluster-ip-range=" + ServiceNetwork,
			"--tls-cert-file=" + pki("apiserver.crt"),
			"--tls-private-key-file=" + pki("apiserver.key"),
			"--client-ca-file=" + pki("ca.crt"),
			"--kubelet-client-certificate=" + pki("admin.crt"),
			"--kubelet-client-key=" + pki("admin.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + pki("sa.crt"),
			"--service-account-signing-key-file=" + pki("sa.key"),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged",
			"--requestheader-client-ca-file=" + pki("ca.crt"),
			"--requestheader-allowed-names=front-proxy", // without it every certificate of ours could pose as anybody
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + pki("front-proxy.crt"),
			"--proxy-client-key-file=" + pki("front-proxy.key"),
			"--audit-policy-file=" + s.Dir.Path("audit-policy.yaml"),
			"--audit-log-path=" + s.Dir.Log("audit"),
		},
		ready: healthy(fmt.Sprintf("https://%s:%d/readyz", NodeIP, APIPort)),
	}
}

func (s *supervisor) controllerManager() *part {
	pki := s.Dir.PKI
	return &part{
		name: "kube-controller-manager",
		path: s.Binaries["kube-controller-manager"],
		args: []string{
			"--kubeconfig=" + s.Dir.Kubeconfig("kube-controller-manager"),
			"--bind-address=127.0.0.1",
			"--leader-elect=false",
			"--use-service-account-credentials",
			"--service-account-private-key-file=" + pki("sa.key"),
			"--root-ca-file=" + pki("ca.crt"),
			"--cluster-signing-cert-file=" + pki("ca.crt"),
			"--cluster-signing-key-file=" + pki("ca.key"),
			"--cluster-cidr=" + PodNetwork,
			"--allocate-node-cidrs=false", // the one node has the whole range
			"--kube-api-qps=500",          // the default holds the first Pods back for seconds
			"--kube-api-burst=1000",
		},
		ready: healthy("https://127.0.0.1:10257/healthz"),
	}
}

func (s *supervisor) scheduler() *part {
	return &part{
		name: "kube-scheduler",
		path: s.Binaries["kube-scheduler"],
		args: []string{
			"--kubeconfig=" + s.Dir.Kubeconfig("kube-scheduler"),
			"--bind-address=127.0.0.1",
			"--leader-elect=false",
		},
		ready: healthy("https://127.0.0.1:10259/healthz"),
	}
}
