package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestTheServicesTakeImagesAndCommits(t *testing.T) {
	s, err := serve("127.0.0.1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	image, err := random.Image(1024, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(s.Registry + "/team/image:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Get(ref); err != nil {
		t.Error(err)
	}

	t.Chdir(t.TempDir())
	git(t, "clone", "--quiet", s.Git, "work")
	if err := os.WriteFile("work/file", []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, "-C", "work", "add", "file")
	git(t, "-C", "work", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "file")
	git(t, "-C", "work", "push", "--quiet", "origin", "HEAD:refs/heads/demo")
	git(t, "clone", "--quiet", "--branch", "demo", s.Git, "again")
	if content, err := os.ReadFile("again/file"); err != nil || string(content) != "text\n" {
		t.Errorf("the clone has %q: %v", content, err)
	}
}

func TestAnAddressOfAnotherMachineIsRefused(t *testing.T) {
	if _, err := serve("192.0.2.1", t.TempDir()); err == nil {
		t.Error("192.0.2.1 is served")
	}
}

func TestTheGatewayIsTheFirstIPv4Address(t *testing.T) {
	tests := map[string]struct{ listed, want string }{
		"both families": {"fc00:f853:ccd:e793::1\n172.18.0.1\n", "172.18.0.1"},
		"one":           {"172.18.0.1\n", "172.18.0.1"},
		"none":          {"<no value>\n", ""},
		"nothing":       {"", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := chooseGateway(tc.listed)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestAWayThatIsNoneIsRefusedBeforeAnythingIsMade(t *testing.T) {
	command := newCommand()
	command.SetArgs([]string{"--method", "helm"})
	if err := command.Execute(); err == nil || !strings.Contains(err.Error(), "overlay, direct, olm") {
		t.Errorf("error %v, want one that names the ways", err)
	}
}

// TestEachStepIsACommandThatExists asks make whether it has the targets, and how it would make them.
func TestEachStepIsACommandThatExists(t *testing.T) {
	t.Chdir("../..")
	s := &services{Registry: "172.18.0.1:5000", Git: "http://172.18.0.1:5001/memcached-operator.git"}
	want := map[string]string{
		"overlay": "172.18.0.1:5000/memcached-operator:" + tag,
		"direct":  "--method 'direct' --repo 'http://172.18.0.1:5001/memcached-operator.git'",
		"olm":     "--method 'olm' --repo 'http://172.18.0.1:5001/memcached-operator.git'",
	}
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			var made []string
			for _, step := range stepsOf(t, way, s) {
				switch step.args[0] {
				case "make":
					out, err := exec.CommandContext(t.Context(), "make", append([]string{"-n"}, step.args[1:]...)...).CombinedOutput()
					if err != nil {
						t.Errorf("%v: %v\n%s", step.args, err, out)
					}
					made = append(made, strings.Join(strings.Fields(string(out)), " "))
				case "kubectl":
					if file := step.args[len(step.args)-1]; filepath.Ext(file) == ".yaml" && !strings.HasPrefix(file, "https:") {
						if _, err := os.Stat(file); err != nil {
							t.Error(err)
						}
					}
				case "docker":
				default:
					t.Errorf("%v is neither a target of make nor of kubectl or docker", step.args)
				}
			}
			if all := strings.Join(made, "\n"); !strings.Contains(all, want[way]) {
				t.Errorf("make would run:\n%s\nwant %s", all, want[way])
			}
		})
	}
}

func TestTheNodeIsToldToPullInPlainHTTP(t *testing.T) {
	first := stepsOf(t, "overlay", &services{Registry: "172.18.0.1:5000"})[0]
	if diff := cmp.Diff("[host.\"http://172.18.0.1:5000\"]\n", first.input); diff != "" {
		t.Errorf("hosts.toml (-want +got):\n%s", diff)
	}
	if folder := "/etc/containerd/certs.d/172.18.0.1:5000/hosts.toml"; !strings.HasSuffix(first.args[len(first.args)-1], folder) {
		t.Errorf("%v does not write %s", first.args, folder)
	}
}

func TestTheArgoCDOfAReleaseIsNamed(t *testing.T) {
	t.Chdir("../..")
	url, err := argoCD()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`/argo-cd/v3\.\d+\.\d+/manifests/install\.yaml$`).MatchString(url) {
		t.Errorf("%s names no version 3", url)
	}
}

func stepsOf(t *testing.T, way string, s *services) []step {
	t.Helper()
	all, err := steps(way, s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func git(t *testing.T, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
