package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{Program: "ptp", CNI: true, Package: "cni", Why: "gives Pods their network"},
		{Program: "loopback", CNI: true, Package: "cni", Why: "gives Pods their localhost"},
	}
	debian := machine{os: "linux", root: true}
	tests := map[string]struct {
		machine machine
		install bool
		want    []string // in the verdict, or none where it is nil
	}{
		"a machine with everything passes":       {with(debian, "runc", "ptp", "loopback"), false, nil},
		"what apt-get can install is no problem": {with(debian, "apt-get"), true, nil},
		"without leave to install, all that is missing is reported at once, with reasons and packages": {
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

func TestPackagesAreNamedOnce(t *testing.T) {
	want := []string{"git", "runc", "nftables", "mount", "containernetworking-plugins", "redis-server"}
	if diff := cmp.Diff(want, packages(Cluster(true))); diff != "" {
		t.Error(diff)
	}
}

func TestServicesAreDeniedOnlyForTheTimeBeing(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy-rc.d")
	allow, err := denyServices(policy)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(policy); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("the policy can't be asked: %v", err)
	}
	nested, err := denyServices(policy) // another one's policy
	if err != nil {
		t.Fatal(err)
	}
	nested()
	if _, err := os.Stat(policy); err != nil {
		t.Errorf("a policy that existed was deleted: %v", err)
	}
	allow()
	if _, err := os.Stat(policy); err == nil {
		t.Error("the policy was not deleted")
	}
}
