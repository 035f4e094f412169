package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fatih/color"
	log "github.com/sirupsen/logrus"
)

func TestMain(m *testing.M) {
	log.SetLevel(log.ErrorLevel) // Argo CD's packages
	color.NoColor = true
	for _, variable := range os.Environ() { // The variables of a Git hook would make git use its repository.
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// run runs the program with these arguments, and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand()
	command.SetArgs(args)
	command.SetOut(&out)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestPlan(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--method olm --arch s390x --with console,manual-approval", "olm on s390x with console, manual-approval "},
		{"--method olm --with cluster-admin", "ClusterRoleBinding  okd-console-cluster-admin"},
		{"--method direct --arch ppc64le", "path overlays/ppc64le with ../../gitops/operator/direct,"},
		{"--method openshift --arch multiarch", "path gitops/operator/subscription,"},
	} {
		out, err := run(t, append([]string{"plan"}, strings.Fields(tc.args)...)...)
		if err != nil || !strings.Contains(out, tc.want) {
			t.Errorf("%s: %v: %q is missing in:\n%s", tc.args, err, tc.want, out)
		}
	}
	color.NoColor = false
	defer func() { color.NoColor = true }()
	if out, err := run(t, "plan", "--method", "direct"); err != nil || !strings.Contains(out, "\x1b[") {
		t.Errorf("a terminal gets no colours: %v\n%s", err, out)
	}
}

func TestArgumentsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
	}{
		"no install method":         {[]string{"plan"}, []string{"--method", "direct, olm-v1, olm, openshift"}},
		"an unknown install method": {[]string{"plan", "--method", "helm"}, []string{`"helm"`, "openshift"}},
		"one to verify":             {[]string{"verify", "--method", "helm"}, []string{`"helm"`, "openshift"}},
		"an unknown architecture":   {[]string{"plan", "--method", "olm", "--arch", "riscv64"}, []string{`"riscv64"`, "multiarch, ppc64le, s390x"}},
		"an unknown option":         {[]string{"plan", "--method", "olm", "--with", "tea"}, []string{`"tea"`, "console"}},
		"an unknown revision":       {[]string{"plan", "--method", "olm", "--dir", committed(t), "--diff", "nowhere"}, []string{`"nowhere"`}},
		"no repository":             {[]string{"verify", "--dir", os.TempDir()}, []string{"--dir"}},
		"an argument":               {[]string{"verify", "all"}, []string{"all"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, tc.args...)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

// committed returns the folder of a copy of the repository, with one commit.
func committed(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"gitops", "operator/config", "overlays", "bundle"} {
		if err := os.CopyFS(filepath.Join(root, folder), os.DirFS(filepath.Join("../..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"init --quiet", "add --all", "-c user.name=test -c user.email=test@example.com commit -q -m one"} {
		command := exec.CommandContext(t.Context(), "git", strings.Fields(args)...)
		command.Dir = root
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return root
}

func TestPlanShowsAnInstallMethodThatACommitDoesNotHaveAsAWhole(t *testing.T) {
	root := committed(t)
	for _, folder := range []string{"gitops/apps", "gitops/bootstrap"} {
		if err := os.CopyFS(filepath.Join(root, folder, "mine"), os.DirFS(filepath.Join(root, folder, "openshift"))); err != nil {
			t.Fatal(err)
		}
	}
	out, err := run(t, "plan", "--method", "mine", "--dir", root, "--diff", "HEAD")
	if err != nil || !strings.Contains(out, "+ Memcached") || !strings.Contains(out, " 0 changed, 0 removed") {
		t.Errorf("%v\n%s", err, out)
	}
}
