package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/command"
	"github.com/example-inc/memcached-operator/internal/testing/registry"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

func TestABundleAndACatalogGetIntoARegistry(t *testing.T) {
	host := registry.New(t)
	t.Chdir("../..")
	dir := t.TempDir()
	steps := []struct {
		args string
		want string
	}{
		{"bundle --version 0.1.0 --image " + host + "/operator:0.1.0 --dir " + dir, "memcached-operator.v0.1.0\n"},
		{"image bundle --tag " + host + "/bundle:v0.1.0 --dir " + dir, host + "/bundle@sha256:"},
		{"image bundle --tag " + host + "/bundle:v0.1.0 --push --dir " + dir, host + "/bundle@sha256:"},
		{"catalog --bundle-image " + host + "/bundle:v0.1.0 --dir " + dir, "catalog.yaml\n"},
		{"image catalog --tag " + host + "/catalog:v0.1.0 --push --dir " + dir, host + "/catalog@sha256:"},
	}
	for _, step := range steps {
		out, err := command.Run(t, newCommand(), strings.Fields(step.args)...)
		if err != nil {
			t.Fatalf("%s: %v", step.args, err)
		}
		if !strings.Contains(out, step.want) {
			t.Errorf("%s prints %q, want %q in it", step.args, out, step.want)
		}
	}
}

func TestWhatCannotBeDoneIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	host := registry.New(t)
	tests := map[string]struct{ args, want string }{
		"a digest that no registry has": {"bundle --version 1.0.0 --use-image-digests --image " + host + "/operator:1", "the registry does not have " + host + "/operator:1"},
		"a catalog of no bundle":        {"catalog --bundle-image registry.example.com/b:1", "make bundle"},
		"an image of no bundle":         {"image bundle --tag registry.example.com/b:1", "make bundle"},
		"an unknown tool":               {"image bundle --tag registry.example.com/b:1 --tool kaniko", "--tool"},
		"a push to a digest":            {"image bundle --push --tag " + host + "/b@sha256:" + strings.Repeat("1", 64), "names a digest"},
		"a chart of no version":         {"chart", `--version ""`},
		"a release for an unknown platform": {
			"dist --version 0.2.0 --registry registry.example.com/team --platform linux/foo",
			`--platform "linux/foo" is not supported: choose from linux/amd64,linux/arm64,linux/ppc64le,linux/s390x`,
		},
	}
	t.Chdir("../..")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := append(strings.Fields(tc.args), "--dir", dir)
			if args[0] == "chart" || args[0] == "dist" {
				args[len(args)-2] = "--out"
			}
			_, err := command.Run(t, newCommand(), args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("%s was written", entries[0].Name())
			}
		})
	}
}

func TestABundleThatIsRenewedKeepsWhatItWasGiven(t *testing.T) {
	root := tree.Copy(t, "../..", "operator/config", "gitops/settings")
	t.Chdir(root)
	must := func(args ...string) {
		t.Helper()
		if _, err := command.Run(t, newCommand(), args...); err != nil {
			t.Fatal(err)
		}
	}
	must("bundle", "--version", "1.1.0", "--image", "ghcr.io/acme/operator:1.1.0")
	must("catalog", "--bundle-image", "ghcr.io/acme/memcached-operator-bundle:v1.1.0")
	must("bundle", "--version", "1.2.0", "--image", "ghcr.io/acme/operator:1.2.0", "--channels", "candidate,stable",
		"--default-channel", "stable", "--pull-secret", "registry", "--memcached-image", "ghcr.io/acme/cache:1.6.1",
		"--agent-image", "ghcr.io/acme/agent@sha256:"+strings.Repeat("1", 64))
	must("catalog", "--bundle-image", "ghcr.io/acme/memcached-operator-bundle:v1.2.0")
	before := tree.Read(t, root)
	for _, want := range []string{"  replaces: memcached-operator.v1.1.0\n", "olm.skipRange: '>=1.1.0 <1.2.0'\n"} {
		if csv := before["bundle/"+bundle.CSVFile]; !strings.Contains(csv, want) {
			t.Errorf("the bundle does not hold %q:\n%s", want, csv)
		}
	}
	must("renew")
	if diff := cmp.Diff(before, tree.Read(t, root)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// TestAToolBuildsByTheDockerfile runs a script instead of the container tool. The script prints the arguments with
// which it is called.
func TestAToolBuildsByTheDockerfile(t *testing.T) {
	const ref, from = "r.example.com/b:1", " --file bundle/bundle.Dockerfile bundle\n"
	const list = "manifest rm " + ref + "\nbuild --no-cache --manifest " + ref +
		" --platform linux/amd64,linux/arm64,linux/ppc64le,linux/s390x" + from +
		"manifest push --all --tls-verify=true " + ref + " docker://" + ref + "\n"
	bin := t.TempDir()
	t.Chdir("../..")
	for tool, want := range map[string]string{
		"docker": "build --tag " + ref + from + "push " + ref + "\n", "podman": list, "buildah": list,
	} {
		script := "#!/bin/sh\necho \"$@\" >> " + bin + "/calls." + tool + "\n"
		if err := os.WriteFile(filepath.Join(bin, tool), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":/bin:/usr/bin")
		if _, err := command.Run(t, newCommand(), "image", "bundle", "--tag", ref, "--push", "--tool", tool); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(bin + "/calls." + tool)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tool, diff)
		}
	}
}
