package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// argoSettingsOwner is another owner than that of the defaults: an apply takes away what its owner applied
// before and leaves out now, which would be every default that stands in the same ConfigMap.
const argoSettingsOwner = client.FieldOwner("local-cluster-settings")

const argoNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: ` + ArgoCDNamespace + `}}`

// argoSettings lie over the defaults that come with Argo CD. Tracking by label, the default of Argo CD 2,
// would claim copies that other controllers make of an object together with its labels. The key is one that
// Argo CD's API server would make: without one, Argo CD refuses every destination.
const argoSettings = `apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, labels: {app.kubernetes.io/part-of: argocd}}
data:
  application.resourceTrackingMethod: annotation
  timeout.reconciliation: ` + resync + `
  timeout.reconciliation.jitter: 0s
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret}
data: {server.secretkey: %s}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default}
spec:
  sourceRepos: ['*']
  destinations: [{namespace: '*', server: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
`

// resync is how often Argo CD looks for commits, which a local repository has no webhook to tell of.
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
	if err := s.startParts(ctx, s.redis(), s.repoServer()); err != nil {
		return err
	}
	return s.startParts(ctx, s.applicationController())
}

// installArgoCD applies the manifests that `up` took from Argo CD's own module, then our settings.
func (s *supervisor) installArgoCD(ctx context.Context) error {
	if err := s.kube.apply(ctx, fieldOwner, "", []byte(argoNamespace)); err != nil {
		return err
	}
	manifests, err := filepath.Glob(s.Dir.Argo("manifests", "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range manifests {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := s.kube.apply(ctx, fieldOwner, ArgoCDNamespace, content); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return s.applyArgoSettings(ctx)
}

func (s *supervisor) applyArgoSettings(ctx context.Context) error {
	key := base64.StdEncoding.EncodeToString([]byte(rand.Text()))
	settings := fmt.Appendf(nil, argoSettings, key)
	// The API server serves a new kind a moment after it took its definition.
	var last error
	err := wait.PollUntilContextTimeout(ctx, probeInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		last = s.kube.apply(ctx, argoSettingsOwner, ArgoCDNamespace, settings)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("settings: %w", last)
	}
	return nil
}

func (s *supervisor) redis() *part {
	return &part{
		name:  "redis",
		path:  s.Binaries["redis-server"],
		args:  []string{"--bind", "127.0.0.1", "--port", "6379", "--save", "", "--appendonly", "no"},
		ready: accepts("tcp", "127.0.0.1:6379"),
	}
}

func (s *supervisor) repoServer() *part {
	return &part{
		name: "argocd-repo-server",
		path: s.Binaries["argocd"],
		args: []string{
			"--address=127.0.0.1",
			"--metrics-address=127.0.0.1",
			"--redis=127.0.0.1:6379",
			"--logformat=text",
		},
		// It calls a script that lies beside its program in Argo CD's own image.
		env:   append(s.argoEnv(), "PATH="+joinPath([]string{s.Dir.Argo("bin"), s.path()})),
		ready: healthy("http://127.0.0.1:8084/healthz"),
	}
}

func (s *supervisor) applicationController() *part {
	return &part{
		name: "argocd-application-controller",
		path: s.Binaries["argocd"],
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

// argoEnv makes `in-cluster` destinations work from outside of a Pod, and gives folders in place of
// those that Argo CD's own image has.
func (s *supervisor) argoEnv() []string {
	return []string{
		"ARGOCD_FAKE_IN_CLUSTER=true",
		"KUBECONFIG=" + s.Dir.Kubeconfig("argocd"),
		"ARGOCD_RECONCILIATION_TIMEOUT=" + resync,
		"ARGOCD_REPO_ERROR_GRACE_PERIOD_SECONDS=" + resync, // else it is silent about them for three minutes
		"ARGOCD_RECONCILIATION_JITTER=0s",                  // up to a minute by default
		"ARGOCD_LOG_FORMAT=text",                           // what it logs before it has read its flags
		"ARGOCD_GPG_ENABLED=false",
		"ARGOCD_GNUPGHOME=" + s.Dir.Argo("gpg"),
		"ARGOCD_SSH_DATA_PATH=" + s.Dir.Argo("ssh"),
		"ARGOCD_TLS_DATA_PATH=" + s.Dir.Argo("tls"),
		"ARGOCD_PLUGINSOCKFILEPATH=" + s.Dir.Argo("plugins"),
	}
}
