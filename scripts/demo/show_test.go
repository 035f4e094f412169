package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/chain"
)

func TestTheCommandsToTryNextCanBePasted(t *testing.T) {
	const folder = `/home/it's me/$HOME code`
	c := &chain.Chain{
		Root: folder, Cluster: &local.Cluster{Name: "demo", Kubeconfig: folder + "/kubeconfig", Kubectl: "/bin/kubectl"},
		Git: &chain.Repository{Dir: folder},
	}
	steps := nextSteps(c)
	if !strings.Contains(steps, "kubectl() { /bin/kubectl \"$@\"; }\n") {
		t.Errorf("a plain path is quoted:\n%s", steps)
	}
	t.Setenv("SUDO_USER", "")
	for line := range strings.Lines(steps) {
		name, isExport := strings.CutPrefix(strings.TrimSpace(line), "export ")
		if !isExport {
			continue
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", name+`; printf %s "$KUBECONFIG"`).CombinedOutput()
		if err != nil || string(out) != folder+"/kubeconfig" {
			t.Errorf("the shell reads %q, error %v, from %s", out, err, line)
		}
	}
}

func TestOnlyWhoCameBySudoIsToldToGoOnAsRoot(t *testing.T) {
	for user, want := range map[string]bool{"": false, "newcomer": true} {
		t.Setenv("SUDO_USER", user)
		if got := strings.Contains(asRoot(), "sudo"); got != want {
			t.Errorf("SUDO_USER=%q: %q", user, asRoot())
		}
	}
}
