package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/example-inc/memcached-operator/internal/testing/command"
	"github.com/example-inc/memcached-operator/internal/testing/programs"
	"github.com/example-inc/memcached-operator/internal/testing/registry"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

func TestBuildPushesImagesWithTheirVersionAndPlatforms(t *testing.T) {
	t.Chdir(programs.Write(t))
	host := registry.New(t)
	tests := map[string]struct {
		args      string
		want      []string // references by tag
		platforms []string
	}{
		"the operator has the given tag, and the agent its own version": {
			"operator=HOST/operator:1 agent=HOST/agent --version 0.1.0 --platform " + oci.Host().String(),
			[]string{"HOST/operator:1", "HOST/agent:" + programs.AgentVersion}, []string{oci.Host().String()},
		},
		"the operator's own tag is its version": {
			"operator=HOST/operator --version 0.1.0 --platform linux/arm64", []string{"HOST/operator:0.1.0"}, []string{"linux/arm64"},
		},
		"each platform once, in order": {
			"agent=HOST/agent:2 --platform linux/s390x,linux/arm64,linux/s390x",
			[]string{"HOST/agent:2"}, []string{"linux/arm64", "linux/s390x"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := command.Run(t, newCommand(), append([]string{"build"}, strings.Fields(strings.ReplaceAll(tc.args, "HOST", host))...)...)
			if err != nil {
				t.Fatal(err)
			}
			for i, printed := range strings.Fields(out) {
				description, err := oci.Describe(t.Context(), printed)
				if err != nil {
					t.Fatal(err)
				}
				want := strings.ReplaceAll(tc.want[i], "HOST", host) + "@" + description.Digest
				if diff := cmp.Diff(append(tc.platforms, want), append(description.Platforms, printed)); diff != "" {
					t.Errorf("platforms and reference (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestAWrongReferencePreventsAllPushes runs the Makefile to push several images. Only the first reference is valid.
func TestAWrongReferencePreventsAllPushes(t *testing.T) {
	host := registry.New(t)
	cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "image", "IMG="+host+"/half/c:1", "AGENT_IMG="+host+"/Half/a:1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "must be lowercase") {
		t.Errorf("error %v, output:\n%s", err, out)
	}
	served, err := name.NewRegistry(host)
	if err != nil {
		t.Fatal(err)
	}
	if pushed, err := remote.Catalog(t.Context(), served); err != nil || len(pushed) > 0 {
		t.Errorf("pushed: %s, error %v", pushed, err)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	digest := "sha256:" + strings.Repeat("1", 64)
	tests := map[string]struct{ args, want string }{
		"an unknown image":                {"build operand", "choose from operator, agent, snapshot, memcached"},
		"a reference without a registry":  {"build operator=operator:1", `--operator "operator:1"`},
		"a reference with a digest":       {"build agent=localhost:1/x/c:1@" + digest, "names a digest"},
		"one reference for two images":    {"build operator=localhost:1/x:1 agent=localhost:1/x:1", "one would replace the other"},
		"an unsupported architecture":     {"build operator --platform linux/mips", "choose from linux/amd64,linux/arm64,linux/ppc64le,linux/s390x"},
		"an unsupported operating system": {"build agent --platform windows/amd64", `--platform "windows/amd64" is not supported`},
	}
	t.Chdir("../..")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := command.Run(t, newCommand(), strings.Fields(tc.args)...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v does not contain %q", err, tc.want)
			}
		})
	}
}

// pushIndex pushes an index of empty images.
func pushIndex(t *testing.T, ref string, platforms ...string) string {
	t.Helper()
	var index v1.ImageIndex = empty.Index
	for _, name := range platforms {
		platform, err := v1.ParsePlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		entry := mutate.IndexAddendum{Add: empty.Image, Descriptor: v1.Descriptor{Platform: platform}}
		index = mutate.AppendManifests(index, entry)
	}
	pushed, err := oci.Push(t.Context(), index, ref)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := oci.Digest(t.Context(), ref); err != nil || digest != pushed {
		t.Errorf("digest %s, pushed %s, error %v", digest, pushed, err)
	}
	return ref
}

func TestInspectComparesImagesWithTheManifestsOfThisRepository(t *testing.T) {
	host := registry.New(t)
	t.Chdir("../..")
	all := []string{"linux/amd64", "linux/arm64/v8", "linux/ppc64le", "linux/s390x"}
	operator := pushIndex(t, host+"/operator:complete", all...)
	more := pushIndex(t, host+"/memcached:more", append(all, "linux/386", "unknown/unknown")...)
	short := pushIndex(t, host+"/memcached:short", all[:3]...)
	agent := pushIndex(t, host+"/agent:complete", all...)
	snapshot := pushIndex(t, host+"/snapshot:complete", all...)
	single, err := oci.Push(t.Context(), empty.Image, host+"/memcached:single")
	if err != nil {
		t.Fatal(err)
	}
	shortAgent := pushIndex(t, host+"/agent:short", all[:2]...)
	tests := map[string]struct {
		operator, agent, memcached string
		inAll                      string
		want                       []string // texts in the error
	}{
		"all images are complete": {operator, agent, more, strings.Join(all, ", "), nil},
		"memcached does not have an architecture": {operator, agent, short, strings.Join(all[:3], ", "), []string{
			"image memcached: " + short + " does not support linux/s390x, which is promised by OPERAND_ARCHITECTURES in operator/config/manager, ",
			" in overlays/s390x, ", "in bundle/manifests/memcached-operator.clusterserviceversion.yaml: name another by --memcached-image, such as one in your own registry, or remove s390x there",
		}},
		"memcached is one image": {operator, agent, single, "none", []string{single + " does not support linux/amd64 (it is one image, and no index)"}},
		"the agent has no architectures": {operator, shortAgent, more, strings.Join(all[:2], ", "), []string{
			"image agent: " + shortAgent + " does not support linux/s390x", "does not support linux/ppc64le",
			": push it by make image IMAGE=agent AGENT_IMG=" + shortAgent + " PLATFORMS=linux/amd64,linux/arm64,linux/ppc64le,linux/s390x, or",
		}},
		"an image does not exist, and a registry does not answer": {
			host + "/operator:none", "localhost:1/agent:1", more, "unknown, because not every image could be read",
			[]string{
				"image operator: the registry does not have " + host + "/operator:none: push it by make image IMAGE=operator",
				"image agent: the registry localhost:1 can't be reached for localhost:1/agent:1",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := command.Run(t, newCommand(), "inspect", "--image", tc.operator, "--agent-image", tc.agent,
				"--snapshot-image", snapshot, "--memcached-image", tc.memcached)
			if !strings.HasSuffix(out, "\nIn all images: "+tc.inAll+"\n") {
				t.Errorf("output:\n%s", out)
			}
			if (err == nil) != (tc.want == nil) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			for _, text := range tc.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error:\n%v\ndoes not contain:\n%s", err, text)
				}
			}
		})
	}
}
