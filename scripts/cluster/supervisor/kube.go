package supervisor

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

const fieldManager = "local-cluster"

// kubectl is the supervisor's own access to the API server, as an administrator.
func (s *supervisor) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.Binaries["kubectl"], append(args, "--kubeconfig="+s.Dir.Kubeconfig("admin"))...)
	cmd.Env = []string{"HOME=" + s.Dir.Path("kubectl")} // of its cache
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// apply writes the objects of a file or folder, into a namespace where their kind has one.
func (s *supervisor) apply(ctx context.Context, manager, namespace, path string) error {
	return s.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--validate=false", "--field-manager="+manager,
		"--namespace="+namespace, "--filename="+path)
}

// accountReady is nil when Pods get their service account: only then can one be created.
func (s *supervisor) accountReady(ctx context.Context) error {
	return s.kubectl(ctx, "get", "--namespace=default", "serviceaccount/default")
}

// nodeReady is nil when the Node can run Pods.
func (s *supervisor) nodeReady(ctx context.Context) error {
	return s.kubectl(ctx, "wait", "--for=condition=Ready", "node/"+nodeName, "--timeout=10s")
}
