package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

func TestVerdict(t *testing.T) {
	missing := []Need{
		{Program: "runc", Package: "runc", Why: "starts containers"},
		{Program: "ptp", Package: "cni", Why: "gives Pods their network"},
		{Program: "loopback", Package: "cni", Why: "gives Pods their localhost"},
	}
	for name, tc := range map[string]struct {
		system     string
		isRoot     bool
		missing    []Need
		canInstall bool
		want       []string // texts in the verdict; nil means that there is no error
	}{
		"a machine with everything passes":       {"linux", true, nil, false, nil},
		"what apt-get can install is no problem": {"linux", true, missing, true, nil},
		"otherwise all that is missing is reported together, with reasons and packages": {
			"linux", true, missing, false,
			[]string{"runc, which starts containers, is missing", "loopback, which gives Pods their localhost, is missing", "apt-get install runc cni"},
		},
		"another system and user are reported together with the missing": {
			"darwin", false, missing, true,
			[]string{"a real Node needs the namespaces of Linux, and this system is darwin", "with sudo", "runc, which starts containers, is missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := verdict(tc.system, tc.isRoot, tc.missing, tc.canInstall)
			if (err == nil) != (tc.want == nil) {
				t.Fatalf("verdict() = %v, want %v", err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("verdict() = %q, want %q in it", err, want)
				}
			}
		})
	}
}

// TestServicesAreDeniedWhilePackagesAreInstalled runs a fake apt-get, which records its arguments if the policy exists.
func TestServicesAreDeniedWhilePackagesAreInstalled(t *testing.T) {
	const noted = "update\ninstall --yes --no-install-recommends -o DPkg::Lock::Timeout=300 runc cni\n"
	tests := map[string]bool{"a policy is made for the time being": false, "one that exists stays": true}
	for name, existing := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			policy, log := filepath.Join(dir, "policy-rc.d"), filepath.Join(dir, "log")
			fake := "#!/bin/sh\ntest -e '" + policy + "' && echo \"$@\" >>'" + log + "'\n"
			if err := os.WriteFile(filepath.Join(dir, "apt-get"), []byte(fake), 0o755); err != nil {
				t.Fatal(err)
			}
			if existing {
				if err := os.WriteFile(policy, nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("POLICY", policy)
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			needs := []Need{{Program: "runc", Package: "runc"}, {Program: "ptp", Package: "cni"}}
			if err := install(progress.WithOutput(t.Context(), t.Output()), needs); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(log); string(got) != noted {
				t.Errorf("apt-get was called by %q (%v), want %q", got, err, noted)
			}
			if _, err := os.Stat(policy); (err == nil) != existing {
				t.Errorf("the policy afterwards: %v", err)
			}
		})
	}
}
