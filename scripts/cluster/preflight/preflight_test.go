package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// with is a machine that has the programs named.
func with(m machine, programs ...string) machine {
	m.has = func(need Need) bool {
		return strings.Contains(" "+strings.Join(programs, " ")+" ", " "+need.Program+" ")
	}
	return m
}

func TestVerdict(t *testing.T) {
	needs := []Need{
		{Program: "runc", Package: "runc", Why: "starts containers"},
		{Program: "ptp", Package: "cni", Why: "gives Pods their network"},
		{Program: "loopback", Package: "cni", Why: "gives Pods their localhost"},
	}
	debian := machine{os: "linux", root: true}
	tests := map[string]struct {
		machine machine
		install bool
		want    []string // in the verdict, or none where it is nil
	}{
		"a machine with everything passes":       {with(debian, "runc", "ptp", "loopback"), false, nil},
		"what apt-get can install is no problem": {with(debian, "apt-get"), true, nil},
		"without leave to install, all that is missing is reported together, with reasons and packages": {
			with(debian, "apt-get", "ptp"), false,
			[]string{"runc is missing, which starts containers", "loopback is missing", "apt-get install runc cni"},
		},
		"without apt-get the same is reported": {with(debian), true, []string{"runc is missing", "ptp is missing"}},
		"another system and user are reported together with the missing": {
			with(machine{os: "darwin"}, "apt-get"), true,
			[]string{"a real Node needs Linux, for its namespaces (this is darwin)", "with sudo", "runc is missing"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.machine.verdict(tc.machine.missing(needs), tc.install)
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

// A program in place of apt-get notes how it is called, and whether it finds the policy.
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
