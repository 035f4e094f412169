package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakes are programs that kind.sh runs instead of the real ones. The fake docker prints the address of this machine as
// that of the network. The fake make checks what the script serves, and prints what the real make would run.
var fakes = map[string]string{
	"docker":  `case $1 in network) printf 'fc00::1\n127.9.0.1\n' ;; *) cat ;; esac`,
	"kubectl": `true`,
	"go":      `case $1 in tool) ;; *) exec "$REAL/go" "$@" ;; esac`,
	"make": `for a; do case $a in
		REPO=*) git -C "$REAL" push -q "${a#REPO=}" HEAD:refs/heads/demo && git ls-remote "${a#REPO=}" ;;
		REGISTRY=* | IMG=*) a=${a#*=}; "$REAL/go" run github.com/google/go-containerregistry/cmd/crane catalog --insecure "${a%%/*}" ;;
	esac || echo failed "$a"; done
	"$REAL/make" -n "$@"`,
}

// TestEachInstallMethodOnKindRunsCommandsThatExist replaces Docker, kind, kubectl and make.
func TestEachInstallMethodOnKindRunsCommandsThatExist(t *testing.T) {
	t.Chdir("../..")
	dir, programs := t.TempDir(), t.TempDir()
	for name, content := range fakes {
		content = "#!/bin/sh\necho " + name + ` "$@" >>` + dir + "/ran\n{ " + content + "\n} 2>&1 | tee -a " + dir + "/ran\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	prepare := exec.CommandContext(t.Context(), "sh", "-euc", `ln -s $(command -v go) $(command -v make) .; git init -q
		git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m x`)
	prepare.Dir = dir
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("REAL", dir)
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	const registry, repo = "127.9.0.1:5000", "git://127.9.0.1/memcached-operator.git"
	for method, want := range map[string][]string{
		"overlay": {"deploy apply overlays/", "kubectl apply -f operator/config/samples/cache_v1_memcached.yaml"},
		"direct":  {"--method 'direct' --repo '" + repo + "'", "refs/heads/demo", "argo-cd/v3."},
		"olm":     {"--method 'olm' --repo '" + repo + "'", "refs/heads/demo", "argo-cd/v3."},
		"helm":    {"choose one of overlay, direct, olm"},
	} {
		script := exec.CommandContext(t.Context(), "scripts/demo/kind.sh")
		script.WaitDelay = 10 * time.Second // Processes that the script leaves running would keep its output open.
		script.Env = append(os.Environ(), "METHOD="+method)
		out, err := script.CombinedOutput()
		ran, _ := os.ReadFile(dir + "/ran")
		text := string(out) + string(ran)
		for _, want := range want {
			if !strings.Contains(text, want) || strings.Contains(text, "failed ") || (err != nil) != (method == "helm") {
				t.Errorf("%s: error %v, want %q:\n%s", method, err, want, text)
			}
		}
		if host := `[host."http://` + registry + `"]`; method != "helm" && !strings.Contains(string(ran), host) {
			t.Errorf("%s: containerd has no %s:\n%s", method, host, ran)
		}
	}
	if _, err := os.Stat("operator/config/samples/cache_v1_memcached.yaml"); err != nil {
		t.Error(err)
	}
}
