package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// run runs a command in the root of the repository.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	command := newCommand()
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(t.Output())
	err := command.ExecuteContext(progress.WithOutput(t.Context(), t.Output()))
	return out.String(), err
}

func newRegistry(t *testing.T) (host string) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func image(t *testing.T, platform string) v1.Image {
	t.Helper()
	parsed, err := v1.ParsePlatform(platform)
	if err != nil {
		t.Fatal(err)
	}
	made, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: parsed.OS, Architecture: parsed.Architecture, Variant: parsed.Variant,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// pushIndex pushes an index of empty images.
func pushIndex(t *testing.T, ref string, platforms ...string) string {
	t.Helper()
	var images []v1.Image
	for _, platform := range platforms {
		images = append(images, image(t, platform))
	}
	index, err := oci.Index(images...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oci.PushIndex(t.Context(), index, ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestImagesAreComparedWithWhatThisRepositoryPromises(t *testing.T) {
	host := newRegistry(t)
	t.Chdir("../..")
	all := []string{"linux/amd64", "linux/arm64/v8", "linux/ppc64le", "linux/s390x"}
	complete := pushIndex(t, host+"/operator:complete", all...)
	more := pushIndex(t, host+"/memcached:more", append(all, "linux/386", "unknown/unknown")...)
	short := pushIndex(t, host+"/memcached:short", all[:3]...)
	agent := pushIndex(t, host+"/agent:complete", all...)
	shortAgent := pushIndex(t, host+"/agent:short", all[:2]...)
	single := host + "/operator:single"
	if _, err := oci.Push(t.Context(), image(t, "linux/amd64"), single); err != nil {
		t.Fatal(err)
	}
	const nobody = "localhost:1/operator:1"
	tests := map[string]struct {
		operator, agent, memcached string
		inAll                      string
		want                       []string // in the error, which has no other lines
	}{
		"all is there": {complete, agent, more, strings.Join(all, ", "), nil},
		"memcached lacks an architecture": {
			complete, agent, short, strings.Join(all[:3], ", "),
			[]string{
				"image memcached: " + short + " has no linux/s390x, which is promised by OPERAND_ARCHITECTURES in operator/config/manager, ",
				", overlays/s390x, ", ", bundle/manifests/memcached-operator.clusterserviceversion.yaml: ",
				": name another by --memcached-image, such as one of a registry of your own, or take s390x out there",
			},
		},
		"the agent lacks architectures": {
			complete, shortAgent, more, strings.Join(all[:2], ", "),
			[]string{
				"image agent: " + shortAgent + " has no linux/s390x, which is promised by OPERAND_ARCHITECTURES in operator/config/manager, ",
				"has no linux/ppc64le",
				": push it by make agent-image-index AGENT_IMG=" + shortAgent + " PLATFORMS=linux/amd64,linux/arm64,linux/ppc64le,linux/s390x, or",
			},
		},
		"nobody pushed the agent": {
			complete, host + "/agent:none", more, "unknown, not every image was read",
			[]string{"image agent: the registry does not have " + host + "/agent:none: push it by make agent-image-index"},
		},
		"the operator is one image of one architecture": {
			single, agent, more, "linux/amd64",
			[]string{
				single + " has no linux/arm64 (it is one image, of linux/amd64, and no index)", "has no linux/ppc64le",
				"push it by make image-index IMG=" + single + " PLATFORMS=linux/amd64,linux/arm64,linux/ppc64le,linux/s390x",
			},
		},
		"nobody pushed the operator": {
			host + "/operator:none", agent, more, "unknown, not every image was read",
			[]string{"image operator: the registry does not have " + host + "/operator:none: push it by make image-index"},
		},
		"the registry is not there": {
			nobody, agent, more, "unknown, not every image was read",
			[]string{"image operator: the registry localhost:1 can't be reached for " + nobody},
		},
		"neither can be read": {
			nobody, agent, "localhost:1/memcached:1", "unknown, not every image was read",
			[]string{"can't be reached for " + nobody, "can't be reached for localhost:1/memcached:1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, "inspect", "--image", tc.operator, "--agent-image", tc.agent, "--memcached-image", tc.memcached)
			if !strings.HasSuffix(out, "\nIn all images: "+tc.inAll+"\n") {
				t.Errorf("it prints:\n%s", out)
			}
			checkError(t, err, tc.want)
		})
	}
}

func checkError(t *testing.T, err error, want []string) {
	t.Helper()
	if (err == nil) != (len(want) == 0) {
		t.Fatalf("error %v, want %q", err, want)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error:\n%v\nwant in it:\n%s", err, text)
		}
	}
}

func TestTheReportForMachines(t *testing.T) {
	host := newRegistry(t)
	t.Chdir("../..")
	operator := pushIndex(t, host+"/operator:1", "linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x")
	agent := pushIndex(t, host+"/agent:1", "linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x")
	memcached := pushIndex(t, host+"/memcached:1", "linux/amd64")
	out, err := run(t, "inspect", "--image", operator, "--agent-image", agent, "--memcached-image", memcached, "-o", "json")
	if err == nil {
		t.Error("no error, where three architectures are missing")
	}
	var report struct {
		Images []struct {
			Name, Reference, Digest string
			Index                   bool
			Platforms               []struct{ Platform, Digest string }
		}
		InAll, Problems []string
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if len(report.Images) != 3 || len(report.Images[0].Platforms) != 4 || !report.Images[1].Index || len(report.Problems) != 3 {
		t.Errorf("report:\n%s", out)
	}
	if diff := cmp.Diff([]string{"linux/amd64"}, report.InAll); diff != "" {
		t.Errorf("in all (-want +got):\n%s", diff)
	}
}
