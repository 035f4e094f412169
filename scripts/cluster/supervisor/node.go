package supervisor

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

const containerdSocket = "/run/containerd/containerd.sock"

// restrict_oom_score_adj: without CAP_SYS_RESOURCE, as in most sandboxes, runc dies otherwise.
const containerdConfig = `version = 3
root = %q
[plugins.'io.containerd.cri.v1.images']
  snapshotter = %q
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = %q
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = %q
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = [%q]
  conf_dir = %q
`

// Every Pod is on a link of its own: on a shared bridge, answers of a Service's Pod to its
// neighbour would pass kube-proxy by.
const cniConfig = `{"cniVersion": "1.0.0", "name": "pods", "plugins": [{
  "type": "ptp",
  "ipam": {
    "type": "host-local",
    "ranges": [[{"subnet": "` + PodNetwork + `"}]],
    "routes": [{"dst": "0.0.0.0/0"}]
  }
}]}
`

const registryConfig = `server = "http://%[1]s:%[2]d"
[host."http://%[1]s:%[2]d"]
  capabilities = ["pull", "resolve"]
`

// The thresholds are low, or off, because the disk is the developer's own.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %q}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: %q
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://` + containerdSocket + `
clusterDNS: [` + DNSIP + `]
clusterDomain: cluster.local
resolvConf: %q
podLogsDir: %q
volumePluginDir: /var/lib/kubelet/volumeplugins
maxPods: 250
syncFrequency: 10s
serializeImagePulls: false
enforceNodeAllocatable: []
evictionHard: {memory.available: 100Mi}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
oomScoreAdj: 0
`

func (s *supervisor) startNode(ctx context.Context) error {
	if err := s.writeNodeConfig(); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.containerd()); err != nil {
		return err
	}
	if err := s.startParts(ctx, s.kubelet()); err != nil {
		return err
	}
	if err := s.kube.awaitNode(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, rundir.Tail(s.Dir.Log("kubelet")))
	}
	// Last, as it waits long for a node that it doesn't find at once.
	return s.startParts(ctx, s.kubeProxy())
}

func (s *supervisor) writeNodeConfig() error {
	dir := s.Dir
	files := map[string]string{
		dir.Path("containerd.toml"): fmt.Sprintf(containerdConfig, dir.Path("containerd"), snapshotter(dir),
			s.PauseImage, dir.Path("certs.d"), s.CNIDir, dir.Path("cni")),
		dir.Path("cni", "10-pods.conflist"):               cniConfig,
		dir.Path("certs.d", s.RegistryHost, "hosts.toml"): fmt.Sprintf(registryConfig, NodeIP, registryPort),
		dir.Path("resolv.conf"):                           "nameserver " + NodeIP + "\n",
		dir.Path("kubelet.yaml"): fmt.Sprintf(kubeletConfig, dir.PKI("ca.crt"), "/"+CgroupName(s.Dir),
			dir.Path("resolv.conf"), dir.Path("log", "pods")),
	}
	for path, content := range files {
		if err := rundir.Write(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// snapshotter returns overlayfs, unless the run directory lies on one: they don't stack.
func snapshotter(dir rundir.Dir) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(string(dir), &stat); err == nil && stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native"
	}
	return "overlayfs"
}

func (s *supervisor) containerd() *part {
	return &part{
		name:  "containerd",
		path:  s.Binaries["containerd"],
		args:  []string{"--config=" + s.Dir.Path("containerd.toml")},
		ready: accepts("unix", containerdSocket),
	}
}

func (s *supervisor) kubelet() *part {
	return &part{
		name: "kubelet",
		path: s.Binaries["kubelet"],
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
		path: s.Binaries["kube-proxy"],
		args: []string{
			"--kubeconfig=" + s.Dir.Kubeconfig("kube-proxy"),
			"--proxy-mode=nftables",
			"--cluster-cidr=" + PodNetwork,
			"--nodeport-addresses=primary",
			"--hostname-override=" + nodeName,
			"--conntrack-max-per-core=0", // the limit is the whole machine's: hands off
			"--oom-score-adj=0",
		},
		ready: healthy("http://127.0.0.1:10256/livez"),
	}
}
