package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

func TestAProgramIsPushedForAllItsPlatforms(t *testing.T) {
	host := newRegistry(t)
	t.Chdir("../..")
	var refs []string
	for _, platforms := range []string{"linux/s390x,linux/arm64", "linux/arm64,linux/s390x,linux/arm64"} {
		out, err := run(t, "program", "./scripts/images/pause", "--platform", platforms, "--push", host+"/pause:1")
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, strings.TrimSpace(out))
	}
	if refs[0] != refs[1] {
		t.Errorf("the order of the platforms decides: %s and %s", refs[0], refs[1])
	}
	description, err := oci.Describe(t.Context(), refs[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, manifest := range description.Platforms {
		got = append(got, manifest.Platform)
	}
	if diff := cmp.Diff([]string{"linux/arm64", "linux/s390x"}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestTheOperatorsTagIsItsVersion(t *testing.T) {
	host := newRegistry(t)
	t.Chdir("../..")
	_, err := run(t, "operator", "--version", "0.1.0", "--platform", oci.Host().String(), "--push", host+"/operator")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oci.Digest(t.Context(), host+"/operator:0.1.0"); err != nil {
		t.Error(err)
	}
}

func TestTheAgentsTagIsItsOwnVersion(t *testing.T) {
	host := newRegistry(t)
	t.Chdir("../..")
	version, err := os.ReadFile("operator/cmd/agent/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	ref, err := run(t, "agent", "--platform", oci.Host().String(), "--push", host+"/agent")
	if err != nil {
		t.Fatal(err)
	}
	byTag := host + "/agent:" + strings.TrimSpace(string(version))
	byDigest, err := oci.Digest(t.Context(), byTag)
	if want := strings.Replace(byDigest, host+"/agent", byTag, 1); err != nil || want != strings.TrimSpace(ref) {
		t.Errorf("by its version: %s, printed: %s, error %v", want, ref, err)
	}
}

func TestWhatIsPushedIsPrintedWithTagAndDigest(t *testing.T) {
	host := newRegistry(t)
	digest, err := empty.Image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	at := "@" + digest.String()
	tests := map[string]struct {
		ref   string
		built built
		want  string
	}{
		"the tag that the image suggests, such as memcached's version": {
			"/memcached", built{image: empty.Image, version: "1.6.18"}, "/memcached:1.6.18" + at,
		},
		"a tag that was given":  {"/memcached:dev", built{image: empty.Image, version: "1.6.18"}, "/memcached:dev" + at},
		"no tag and no version": {"/pause", built{image: empty.Image}, "/pause:latest" + at},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.built.push(t.Context(), host+tc.ref)
			if err != nil || got != host+tc.want {
				t.Errorf("printed %q, error %v; want %q", got, err, host+tc.want)
			}
			if _, err := oci.Digest(t.Context(), got); err != nil {
				t.Errorf("what is printed can't be read: %v", err)
			}
		})
	}
}

// TestNothingIsPushedIfOneOfBothReferencesIsWrong runs the Makefile, which pushes both.
func TestNothingIsPushedIfOneOfBothReferencesIsWrong(t *testing.T) {
	for _, variable := range []string{"ARCH=amd64", "PLATFORMS=linux/amd64"} {
		for which, refs := range map[string][2]string{
			"the agent's":    {"/half/c:1", "/Half/a:1"},
			"the operator's": {"/Half/c:1", "/half/a:1"},
		} {
			t.Run(which+" of make image "+variable, func(t *testing.T) {
				host := newRegistry(t)
				cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "image", variable,
					"IMG="+host+refs[0], "AGENT_IMG="+host+refs[1])
				if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "must be lowercase") {
					t.Errorf("error %v, output:\n%s", err, out)
				}
				registry, err := name.NewRegistry(host)
				if err != nil {
					t.Fatal(err)
				}
				if pushed, err := remote.Catalog(t.Context(), registry); err != nil || len(pushed) > 0 {
					t.Errorf("pushed: %s, error %v", pushed, err)
				}
			})
		}
	}
}

func TestWhatCannotBeDoneIsRefusedAtOnce(t *testing.T) {
	digest := "sha256:" + strings.Repeat("1", 64)
	tests := map[string]struct{ args, want string }{
		"a push to nowhere":                 {"operator --push operator:1", "--push"},
		"a push to a digest":                {"operator --push localhost:1/x/c@" + digest, `names a digest`},
		"a push to a tag and a digest":      {"pause --push localhost:1/x/c:1@" + digest, `names a digest`},
		"a platform nobody has":             {"operator --platform linux/multiarch", "linux/amd64,linux/arm64,linux/ppc64le,linux/s390x"},
		"the agent on another system":       {"agent --platform windows/amd64", `--platform "windows/amd64" is not supported`},
		"a wrong name of the operator":      {"check --image localhost:1/X:1 --agent-image localhost:1/a", `--image "localhost:1/X:1"`},
		"a wrong name of the agent":         {"check --image localhost:1/x:1 --agent-image localhost:1/A", `--agent-image "localhost:1/A:`},
		"an agent without a registry":       {"check --image localhost:1/x:1 --agent-image a:1", `--agent-image "a:1"`},
		"a digest of the agent":             {"check --image localhost:1/x:1 --agent-image localhost:1/a@" + digest, "names a digest"},
		"one name for both":                 {"check --image localhost:1/x:1 --agent-image localhost:1/x:1", "one image would replace the other"},
		"a platform without a system":       {"operator --platform arm64", `--platform "arm64"`},
		"memcached for half a platform":     {"memcached --platform linux/", `--platform "linux/"`},
		"an unknown format":                 {"inspect -o yaml", `--output "yaml": text and json are possible`},
		"a folder that is not a repository": {"inspect --root scripts/images", "operator/config/manager"},
	}
	t.Chdir("../..")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, strings.Fields(tc.args)...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestWithTag(t *testing.T) {
	tests := map[string]struct{ ref, tag, want string }{
		"no tag gets the suggested one":    {"localhost:5001/memcached", "1.6.18", "localhost:5001/memcached:1.6.18"},
		"a tag stays":                      {"localhost:5001/memcached:dev", "1.6.18", "localhost:5001/memcached:dev"},
		"a digest stays":                   {"localhost:5001/memcached@sha256:0", "1.6.18", "localhost:5001/memcached@sha256:0"},
		"where none is suggested it stays": {"localhost:5001/pause", "", "localhost:5001/pause"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := withTag(tc.ref, tc.tag); got != tc.want {
				t.Errorf("withTag(%q, %q) = %q, want %q", tc.ref, tc.tag, got, tc.want)
			}
		})
	}
}

func TestEachCommandHasPlatformsOfItsOwn(t *testing.T) {
	root := newCommand()
	for name, want := range map[string][]v1.Platform{
		"operator": oci.Platforms(), "agent": oci.Platforms(), "program": {oci.Host()}, "memcached": nil,
	} {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		got, err := platformsOf(cmd)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: error %v; platforms without the flag (-want +got):\n%s", name, err, diff)
		}
	}
}
