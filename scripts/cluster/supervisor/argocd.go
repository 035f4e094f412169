package supervisor

import (
	"context"
	"fmt"
	"os"
)

// resync is how often Argo CD looks for commits, as a local repository has no webhook.
const resync = "3s"

func (s *supervisor) startArgoCD(ctx context.Context) error {
	for _, dir := range []string{"ssh", "tls", "gpg", "plugins"} {
		if err := os.MkdirAll(s.Dir.Argo(dir), 0o755); err != nil {
			return err
		}
	}
	if err := s.installArgoCD(ctx); err != nil {
		return fmt.Errorf("install Argo CD: %w", err)
	}
	redis := &part{
		name: "redis", program: "redis-server",
		args:  []string{"--bind", "127.0.0.1", "--port", "6379", "--save", "", "--appendonly", "no"},
		ready: accepts("tcp", "127.0.0.1:6379"),
	}
	if err := s.startParts(ctx, redis, s.repoServer()); err != nil {
		return err
	}
	return s.startParts(ctx, s.applicationController())
}

// installArgoCD applies the manifests that `up` took from Argo CD's own module, then the settings of this cluster.
// Those have a field manager of their own: an apply removes what its manager applied before and leaves out now, which
// would be every default in the same ConfigMap.
func (s *supervisor) installArgoCD(ctx context.Context) error {
	if err := s.write("argocd.yaml"); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "create", "namespace", ArgoCDNamespace); err != nil {
		return err
	}
	if err := s.apply(ctx, fieldManager, ArgoCDNamespace, s.Dir.Argo("manifests")); err != nil {
		return err
	}
	// The API server serves a new kind a moment after it took its definition.
	return await(ctx, func(ctx context.Context) error {
		return s.apply(ctx, fieldManager+"-settings", ArgoCDNamespace, s.Dir.Path("argocd.yaml"))
	})
}

func (s *supervisor) repoServer() *part {
	return &part{
		name: "argocd-repo-server", program: "argocd",
		args: []string{
			"--address=127.0.0.1",
			"--metrics-address=127.0.0.1",
			"--redis=127.0.0.1:6379",
			"--logformat=text",
		},
		env:   s.argoEnv(),
		ready: healthy("http://127.0.0.1:8084/healthz"),
	}
}

func (s *supervisor) applicationController() *part {
	return &part{
		name: "argocd-application-controller", program: "argocd",
		args: []string{
			"--kubeconfig=" + s.Dir.Kubeconfig("argocd"),
			"--namespace=" + ArgoCDNamespace,
			"--redis=127.0.0.1:6379",
			"--repo-server=127.0.0.1:8081",
			"--logformat=text",
		},
		env:   s.argoEnv(),
		ready: healthy("http://127.0.0.1:8082/healthz"),
	}
}

// argoEnv makes `in-cluster` destinations work from outside of a Pod, and names what Argo CD's own image has.
func (s *supervisor) argoEnv() []string {
	return []string{
		"PATH=" + s.Dir.Argo("bin") + ":" + s.path(), // of the scripts that it calls
		"ARGOCD_FAKE_IN_CLUSTER=true",
		"KUBECONFIG=" + s.Dir.Kubeconfig("argocd"),
		"ARGOCD_RECONCILIATION_TIMEOUT=" + resync,
		"ARGOCD_REPO_ERROR_GRACE_PERIOD_SECONDS=" + resync, // else it reports them after three minutes
		"ARGOCD_RECONCILIATION_JITTER=0s",                  // up to a minute by default
		"ARGOCD_SYNC_WAVE_DELAY=0",                         // 2 seconds after each wave by default
		"ARGOCD_LOG_FORMAT=text",                           // what it logs before it has read its flags
		"ARGOCD_GPG_ENABLED=false",
		"ARGOCD_GNUPGHOME=" + s.Dir.Argo("gpg"),
		"ARGOCD_SSH_DATA_PATH=" + s.Dir.Argo("ssh"),
		"ARGOCD_TLS_DATA_PATH=" + s.Dir.Argo("tls"),
		"ARGOCD_PLUGINSOCKFILEPATH=" + s.Dir.Argo("plugins"),
	}
}
