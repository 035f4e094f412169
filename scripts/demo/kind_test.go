package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestTheRegistryAndTheGitRepositoryAcceptPushes(t *testing.T) {
	registry, repo, err := serve("127.0.0.1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(1024, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(registry + "/team/image:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Get(ref); err != nil {
		t.Error(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	push := exec.CommandContext(t.Context(), "sh", "-euxc", "git clone -q $0 a; cd a; echo text > file; git add file\n"+
		"git -c user.name=t -c user.email=t@example.com commit -qm file; git push -q origin HEAD:refs/heads/demo\n"+
		"git clone -q --branch demo $0 ../b; grep text ../b/file", repo)
	push.Dir = t.TempDir()
	if out, err := push.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, _, err := serve("192.0.2.1", t.TempDir()); err == nil {
		t.Error("192.0.2.1, of another machine, is served")
	}
}

func TestTheGatewayIsTheFirstIPv4Address(t *testing.T) {
	for listed, want := range map[string]string{
		"fc00:f853:ccd:e793::1\n172.18.0.1\n": "172.18.0.1", "172.18.0.1\n": "172.18.0.1", "<no value>\n": "", "": "",
	} {
		if got, err := gateway(listed); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", listed, got, err, want)
		}
	}
}

// TestEachInstallMethodRunsCommandsThatExist replaces docker and kubectl, and asks make what it would run.
func TestEachInstallMethodRunsCommandsThatExist(t *testing.T) {
	t.Chdir("../..")
	ran := filepath.Join(t.TempDir(), "ran")
	fakes := t.TempDir()
	for program, does := range map[string]string{"docker": "cat", "kubectl": "true", "make": `$MAKE -n "$@"`} {
		content := "#!/bin/sh\necho " + program + ` "$@" >>` + ran + "\n" + does + " >>" + ran + "\n"
		if err := os.WriteFile(filepath.Join(fakes, program), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("make")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MAKE", program)
	t.Setenv("PATH", fakes+":"+os.Getenv("PATH"))
	for method, want := range map[string]string{
		"overlay": "kubectl apply -f operator/config/samples/cache_v1_memcached.yaml",
		"direct":  "--method 'direct' --repo 'http://172.18.0.1:5001/x.git'",
		"olm":     "--method 'olm' --repo 'http://172.18.0.1:5001/x.git'",
	} {
		if err := install(t.Context(), method, "172.18.0.1:5000", "http://172.18.0.1:5001/x.git"); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		content, err := os.ReadFile(ran)
		if err != nil || !strings.Contains(string(content), want) ||
			!strings.Contains(string(content), `[host."http://172.18.0.1:5000"]`) || strings.Contains(string(content), "vv3.") {
			t.Errorf("%s: error %v, ran\n%s\nwant %s", method, err, content, want)
		}
		if _, err := os.Stat("operator/config/samples/cache_v1_memcached.yaml"); err != nil {
			t.Error(err)
		}
	}
}
