package main

import (
	"context"
	_ "embed" // for the script
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

func kindCommand() *cobra.Command {
	var method string
	command := &cobra.Command{
		Use:   "kind",
		Short: "Install the operator on a new cluster of kind, with Docker, and wait for a cache",
		Long: "Creates a cluster, serves a registry and a Git repository to it, and installs the operator by an install\n" +
			"method: overlay (make deploy), direct (Argo CD follows gitops/), or olm (Argo CD installs OLM, and OLM the\n" +
			"operator). Argo CD and OLM come from the releases of their projects, so it needs the internet, and Docker\n" +
			"and kubectl. The cluster keeps running: kind delete cluster --name memcached-operator",
		Example: "  go run ./scripts/demo kind --method olm",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if methods := []string{"overlay", "direct", "olm"}; !slices.Contains(methods, method) {
				return fmt.Errorf("--method %q: choose one of %s", method, strings.Join(methods, ", "))
			}
			return runKind(command.Context(), method)
		},
	}
	command.Flags().StringVar(&method, "method", "overlay", "install method: overlay, direct or olm")
	return command
}

// runKind creates the cluster and what serves it, and installs the operator.
func runKind(ctx context.Context, method string) error {
	dir, err := os.MkdirTemp("", "kind-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kubeconfig := "KUBECONFIG=" + dir + "/kubeconfig"
	err = run(ctx, []string{kubeconfig}, "go", "tool", "-modfile=scripts/tools/go.mod", "kind", "create", "cluster",
		"--name", "memcached-operator", "--wait", "3m")
	if err != nil {
		return err
	}
	const format = "{{range .IPAM.Config}}{{println .Gateway}}{{end}}"
	listed, err := exec.CommandContext(ctx, "docker", "network", "inspect", "kind", "--format", format).Output()
	if err != nil {
		return fmt.Errorf("docker network inspect kind: %w", err)
	}
	address, err := gateway(string(listed))
	if err != nil {
		return err
	}
	registry, repo, err := serve(address, dir)
	if err != nil {
		return err
	}
	return install(ctx, method, registry, repo, kubeconfig)
}

//go:embed kind.sh
var kindScript string

// install runs the script. Argo CD has the version of the local cluster.
func install(ctx context.Context, method, registry, repo string, env ...string) error {
	version, err := builds.ArgoCD.Version()
	if err != nil {
		return err
	}
	return run(ctx, append(env, "METHOD="+method, "REGISTRY="+registry, "REPO="+repo, "ARCH="+runtime.GOARCH,
		"ARGOCD_VERSION=v"+strings.TrimPrefix(version, "v")), "sh", "-c", kindScript)
}

func run(ctx context.Context, env []string, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), env...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}

// gateway is the IPv4 address of this machine in kind's network, which often has an IPv6 address too.
func gateway(listed string) (string, error) {
	for text := range strings.FieldsSeq(listed) {
		if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
			return text, nil
		}
	}
	return "", fmt.Errorf("docker's network kind has no IPv4 gateway: %q", listed)
}
