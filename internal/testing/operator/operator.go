// Package operator runs the operator's own binary as a process, for tests on an API server without a kubelet.
package operator

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Build builds the operator of a repository into a folder, and returns the path of the program.
func Build(ctx context.Context, repository, dir string) (string, error) {
	binary := filepath.Join(dir, "manager")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", binary, repository+"/operator/cmd/manager")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	return binary, nil
}

// Start starts an operator with a kubeconfig, and with further environment variables and flags. The operator listens on
// no port, and ends with the test.
func Start(t *testing.T, binary, kubeconfig string, env []string, flags ...string) {
	t.Helper()
	flags = append([]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"}, flags...)
	command := exec.Command(binary, flags...)
	command.Env = append(env, "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
	Run(t, command)
}

// Run starts a program that ends with the test. If the test fails, Run logs the end of the program's output.
func Run(t *testing.T, command *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), filepath.Base(command.Path)+".log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		_ = log.Close()
		if content, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the end of the log of %s:\n%s", command.Path, content[max(0, len(content)-longestLog):])
		}
	})
}

// longestLog is how many bytes of a log are shown at most.
const longestLog = 100_000
