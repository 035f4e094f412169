package main

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

const (
	clusterName = "memcached-operator"
	node        = clusterName + "-control-plane"

	// tag is that of the images of this working tree.
	tag = "0.0.1-kind"
)

// argoCDModule names the version of Argo CD 3 that the tests run: kind gets the same, from the release's manifests.
const argoCDModule = "scripts/cluster/builds/argocd/go.mod"

func argoCD() (url string, err error) {
	content, err := os.ReadFile(argoCDModule)
	if err != nil {
		return "", fmt.Errorf("%w: run it in the root of the repository", err)
	}
	file, err := modfile.ParseLax(argoCDModule, content, nil)
	if err != nil {
		return "", err
	}
	for _, required := range file.Require {
		if required.Mod.Path == "github.com/argoproj/argo-cd/v3" {
			return "https://raw.githubusercontent.com/argoproj/argo-cd/" + required.Mod.Version + "/manifests/install.yaml", nil
		}
	}
	return "", fmt.Errorf("%s requires no Argo CD 3", argoCDModule)
}

var ways = []string{"overlay", "direct", "olm"}

func validateWay(way string) error {
	if slices.Contains(ways, way) {
		return nil
	}
	return fmt.Errorf("--method %q: choose one of %s", way, strings.Join(ways, ", "))
}

// step is a command with what it is for.
type step struct {
	title string
	args  []string
	input string
}

func createCluster(kubeconfig string) step {
	return step{title: "Cluster", args: []string{
		"go", "tool", "-modfile=scripts/tools/go.mod", "kind", "create", "cluster",
		"--name", clusterName, "--kubeconfig", kubeconfig, "--wait", "3m",
	}}
}

// steps are what installs the operator by a way, and shows a cache, on a cluster that is there.
func steps(way string, s *services) ([]step, error) {
	hosts := "/etc/containerd/certs.d/" + s.Registry
	all := []step{{
		title: "The Node pulls from the registry in plain HTTP",
		args:  []string{"docker", "exec", "-i", node, "sh", "-c", "mkdir -p " + hosts + " && cat >" + hosts + "/hosts.toml"},
		input: "[host.\"http://" + s.Registry + "\"]\n",
	}}
	if way == "overlay" {
		return append(all, overlay(s.Registry)...), nil
	}
	manifests, err := argoCD()
	if err != nil {
		return nil, err
	}
	return append(all,
		step{title: "Namespace of Argo CD", args: []string{"kubectl", "create", "namespace", "argocd"}},
		step{title: "Argo CD", args: []string{"kubectl", "-n", "argocd", "apply", "--server-side", "-f", manifests}},
		step{title: "Argo CD runs", args: []string{
			"kubectl", "-n", "argocd", "wait", "pods", "--all", "--for=condition=Ready", "--timeout=5m",
		}},
		step{title: "The demo", args: []string{
			"make", "demo", "CLUSTER=current", "METHOD=" + way, "REGISTRY=" + s.Registry + "/team", "REPO=" + s.Git, "ARGS=--yes",
		}},
	), nil
}

func overlay(registry string) []step {
	arch, image := "ARCH="+runtime.GOARCH, "IMG="+registry+"/memcached-operator:"+tag
	agent := "AGENT_IMG=" + registry + "/memcached-agent:" + tag
	return []step{
		{title: "Images", args: []string{"make", "image", image, agent, arch, "VERSION=" + tag}},
		{title: "The operator", args: []string{"make", "deploy", image, agent, arch}},
		{title: "The sample", args: []string{"kubectl", "apply", "-f", "operator/config/samples/cache_v1_memcached.yaml"}},
		{title: "The cache is Ready", args: []string{
			"kubectl", "wait", "memcached", "--all", "--for=condition=Ready", "--timeout=5m",
		}},
	}
}

func run(ctx context.Context, s step) error {
	progress.Note(ctx, "%s: %s", s.title, strings.Join(s.args, " "))
	command := exec.CommandContext(ctx, s.args[0], s.args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(s.input), os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %s: %w", s.title, strings.Join(s.args, " "), err)
	}
	return nil
}

// gateway is the address of this machine in the network of kind's nodes.
func gateway(ctx context.Context) (string, error) {
	const format = "{{range .IPAM.Config}}{{println .Gateway}}{{end}}"
	out, err := exec.CommandContext(ctx, "docker", "network", "inspect", "kind", "--format", format).Output()
	if err != nil {
		return "", fmt.Errorf("docker network inspect kind: %w", err)
	}
	return chooseGateway(string(out))
}

// chooseGateway takes the IPv4 address: kind's network often has an IPv6 one too.
func chooseGateway(listed string) (string, error) {
	for text := range strings.FieldsSeq(listed) {
		if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
			return text, nil
		}
	}
	return "", fmt.Errorf("docker's network kind has no IPv4 gateway: %s",
		cmp.Or(strings.Join(strings.Fields(listed), ", "), "none is listed"))
}
