package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

const fieldManager = "local-cluster"

// stage is a step of the start. The user sees its title.
type stage struct {
	title string
	run   func(context.Context) error
}

func (s *supervisor) stages() []stage {
	if !s.Real {
		startKwok := func(ctx context.Context) error { return s.startParts(ctx, "kwok") }
		return []stage{{"Control plane", s.startControlPlane}, {"Simulated kubelets", startKwok}}
	}
	stages := []stage{
		{"Network and registry", s.startSandbox},
		{"Control plane", s.startControlPlane},
		{"Node", s.startNode},
		{"Cluster DNS", s.startDNS},
	}
	if s.ArgoCD {
		stages = append(stages, stage{"Argo CD", s.startArgoCD})
	}
	return stages
}

func (s *supervisor) start(ctx context.Context) error {
	for _, stage := range s.stages() {
		if err := s.send(Event{Stage: stage.title}); err != nil {
			return err
		}
		if err := stage.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *supervisor) startControlPlane(ctx context.Context) error {
	for _, together := range [][]string{{"etcd"}, {"kube-apiserver"}, {"kube-controller-manager", "kube-scheduler"}} {
		if err := s.startParts(ctx, together...); err != nil {
			return err
		}
	}
	err := await(ctx, func(ctx context.Context) error { // No Pod can be created before this service account exists.
		return s.kubectl(ctx, "get", "--namespace=default", "serviceaccount/default")
	})
	if err != nil {
		return fmt.Errorf("the default ServiceAccount for Pods was not created: "+
			"%w\n%s", err, rundir.Tail(s.Dir.Log("kube-controller-manager")))
	}
	return nil
}

func (s *supervisor) startNode(ctx context.Context) error {
	if err := errors.Join(s.write(firstNode, "resolv.conf"), s.write(firstNode, "cni/pods.conflist")); err != nil {
		return err
	}
	for _, of := range s.nodes() {
		if err := errors.Join(s.write(of, "containerd.toml"), s.write(of, "kubelet.yaml")); err != nil {
			return err
		}
		for _, name := range []string{"containerd", "kubelet"} {
			if err := s.startParts(ctx, name+of.Suffix); err != nil {
				return err
			}
		}
	}
	for _, of := range s.nodes() {
		err := await(ctx, func(ctx context.Context) error {
			return s.kubectl(ctx, "wait", "--for=condition=Ready", "node/"+of.Name, "--timeout=10s")
		})
		if err != nil {
			return fmt.Errorf("%w\n%s", err, rundir.Tail(s.Dir.Log("kubelet"+of.Suffix)))
		}
	}
	return s.startParts(ctx, "kube-proxy") // last, because without its Node, it waits long
}

func (s *supervisor) startDNS(ctx context.Context) error {
	if err := errors.Join(s.write(firstNode, "Corefile"), s.write(firstNode, "dns.yaml")); err != nil {
		return err
	}
	if err := s.apply(ctx, fieldManager, "kube-system", s.Dir.Path("dns.yaml")); err != nil {
		return err
	}
	return s.startParts(ctx, "coredns")
}

func (s *supervisor) startArgoCD(ctx context.Context) error {
	for _, dir := range []string{"ssh", "tls", "gpg", "plugins"} {
		if err := os.MkdirAll(s.Dir.Path("argocd", dir), 0o755); err != nil {
			return err
		}
	}
	if err := s.installArgoCD(ctx); err != nil {
		return fmt.Errorf("install Argo CD: %w", err)
	}
	if err := s.startParts(ctx, "redis", "argocd-repo-server"); err != nil {
		return err
	}
	controllers := []string{"argocd-application-controller"}
	if s.Binaries["argocd-applicationset-controller"] != "" {
		controllers = append(controllers, "argocd-applicationset-controller")
	}
	return s.startParts(ctx, controllers...)
}

// installArgoCD applies the manifests that `up` took from Argo CD's own module, and then the settings of this cluster.
// The settings are applied by another field manager. With the same field manager, the second apply would remove all
// fields that only the first one applied: all defaults in the same ConfigMap.
func (s *supervisor) installArgoCD(ctx context.Context) error {
	if err := s.write(firstNode, "argocd.yaml"); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "create", "namespace", ArgoCDNamespace); err != nil {
		return err
	}
	if err := s.apply(ctx, fieldManager, ArgoCDNamespace, s.Dir.Path("argocd", "manifests")); err != nil {
		return err
	}
	// The API server serves a new kind only a moment after it has accepted the CRD.
	return await(ctx, func(ctx context.Context) error {
		return s.apply(ctx, fieldManager+"-settings", ArgoCDNamespace, s.Dir.Path("argocd.yaml"))
	})
}

// kubectl runs kubectl for the supervisor itself, as an administrator.
func (s *supervisor) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.Binaries["kubectl"], append(args, "--kubeconfig="+s.Dir.Kubeconfig("admin"))...)
	cmd.Env = []string{"HOME=" + s.Dir.Path("kubectl")} // for kubectl's cache
	s.kubectls.Add(1)
	defer s.kubectls.Add(-1)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// apply writes the objects of a file or folder, into a namespace if their kind has one.
func (s *supervisor) apply(ctx context.Context, manager, namespace, path string) error {
	return s.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--validate=false", "--field-manager="+manager,
		"--namespace="+namespace, "--filename="+path)
}
