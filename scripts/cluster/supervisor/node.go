package supervisor

import (
	"context"
	"errors"
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

const containerdSocket = "/run/containerd/containerd.sock"

func (s *supervisor) startNode(ctx context.Context) error {
	for file, folder := range map[string]string{
		"containerd.toml": "", "kubelet.yaml": "", "resolv.conf": "", "pods.conflist": "cni",
	} {
		if err := s.write(file, folder); err != nil {
			return err
		}
	}
	containerd := &part{
		name:  "containerd",
		args:  []string{"--config=" + s.Dir.Path("containerd.toml")},
		ready: accepts("unix", containerdSocket),
	}
	if err := s.startParts(ctx, containerd); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.kubelet()); err != nil {
		return err
	}
	if err := await(ctx, s.nodeReady); err != nil {
		return fmt.Errorf("%w\n%s", err, rundir.Tail(s.Dir.Log("kubelet")))
	}
	// Last, as it waits long for a Node that it doesn't find at once.
	return s.startParts(ctx, s.kubeProxy())
}

func (s *supervisor) kubelet() *part {
	return &part{
		name: "kubelet",
		args: []string{
			"--config=" + s.Dir.Path("kubelet.yaml"),
			"--kubeconfig=" + s.Dir.Kubeconfig("kubelet"),
			"--hostname-override=" + nodeName,
			"--node-ip=" + NodeIP,
			"--root-dir=" + s.Dir.Path("kubelet"),
			"--cert-dir=" + s.Dir.Path("pki", "kubelet"),
		},
		ready: healthy("http://127.0.0.1:10248/healthz"),
	}
}

func (s *supervisor) kubeProxy() *part {
	return &part{
		name: "kube-proxy",
		args: []string{
			"--kubeconfig=" + s.Dir.Kubeconfig("kube-proxy"),
			"--proxy-mode=nftables",
			"--cluster-cidr=" + podNetwork,
			"--nodeport-addresses=primary",
			"--hostname-override=" + nodeName,
			"--conntrack-max-per-core=0", // the limit is the whole machine's
			"--oom-score-adj=0",
		},
		ready: healthy("http://127.0.0.1:10256/livez"),
	}
}

func (s *supervisor) startDNS(ctx context.Context) error {
	if err := errors.Join(s.write("Corefile"), s.write("dns.yaml")); err != nil {
		return err
	}
	if err := s.apply(ctx, fieldManager, "kube-system", s.Dir.Path("dns.yaml")); err != nil {
		return err
	}
	return s.startParts(ctx, &part{
		name:  "coredns",
		args:  []string{"-conf", s.Dir.Path("Corefile")},
		ready: resolves("kubernetes.default.svc.cluster.local."),
	})
}
