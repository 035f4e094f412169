package bundle

import (
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

// good returns valid options, after the function of a case has changed some of them.
func good(change func(*Options)) Options {
	o := Options{
		Version: "0.2.0", Images: Images{Operator: "registry.example.com/memcached-operator:0.2.0"},
		Channels: []string{"stable", "candidate"},
	}
	if change != nil {
		change(&o)
	}
	return o
}

func TestOptionsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		want   []string // flag, value and fix
	}{
		"no version":                      {func(o *Options) { o.Version = "" }, []string{"--version", "is no semantic version", "0.1.0"}},
		"a version with build metadata":   {func(o *Options) { o.Version = "1.2.3+4" }, []string{"--version", "is no name", "lower-case"}},
		"a version longer than a label":   {func(o *Options) { o.Version = "1.2.3-" + strings.Repeat("x", 60) }, []string{"--version", "up to 40"}},
		"no image":                        {func(o *Options) { o.Operator = "" }, []string{"--image", "registry.example.com/memcached-operator:0.1.0"}},
		"a digest that is none":           {func(o *Options) { o.Operator = "registry.example.com/a@sha256:12" }, []string{"--image", "invalid reference format"}},
		"no channel":                      {func(o *Options) { o.Channels = nil }, []string{"--channels", "no channel is named"}},
		"an empty channel":                {func(o *Options) { o.Channels = []string{"stable", ""} }, []string{"--channels", `"stable,"`}},
		"a channel twice":                 {func(o *Options) { o.Channels = []string{"stable", "stable"} }, []string{"stable is named twice"}},
		"a default channel that is none":  {func(o *Options) { o.DefaultChannel = "a b" }, []string{"--default-channel", `"a b"`}},
		"a channel that promises nothing": {func(o *Options) { o.Channels = []string{"alpha"} }, []string{`"alpha" is no channel`, "candidate, fast or stable"}},
		"a Secret of an impossible name":  {func(o *Options) { o.PullSecret = "A" }, []string{"--pull-secret", `"A"`}},
		"images of caches without a tag": {
			func(o *Options) { o.Agent, o.Memcached = "r.example.com/a", "memcached:1" },
			[]string{"--agent-image", "neither tag", "--memcached-image", "no registry"},
		},
		"several mistakes, all reported": {
			func(o *Options) { o.Version, o.Operator, o.Channels = "x", "y", nil }, []string{"--version", "--image", "--channels"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Build(t.Context(), "no such folder: it is not read", good(tc.change))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q has no %q", err, want)
				}
			}
		})
	}
}

func TestABundleIsRenewedWithTheImagesOfTheManifestsUnlessItWasGivenOthers(t *testing.T) {
	const byDigest = "registry.example.com/memcached-agent@sha256:1"
	root := t.TempDir()
	tree.Write(t, root, map[string]string{
		"operator/config/manager/manager.yaml": "value: registry.example.com/memcached-agent:0.2.0\n",
	})
	for name, tc := range map[string]struct{ image, want string }{
		"the repository of the manifests, another tag": {"registry.example.com/memcached-agent:0.0.1", ""},
		"by digest":          {byDigest, byDigest},
		"another repository": {"ghcr.io/acme/memcached-agent:0.0.1", "ghcr.io/acme/memcached-agent:0.0.1"},
		"none":               {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := good(func(o *Options) { o.Agent = tc.image }).Renewed(root)
			if err != nil || got.Agent != tc.want {
				t.Errorf("got %q and error %v, want %q", got.Agent, err, tc.want)
			}
		})
	}
}
