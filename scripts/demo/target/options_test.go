package target

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func settings() values.Settings {
	return values.Settings{
		RepoURL: "https://git.example.com/x.git", Revision: "main", ArgoCDNamespace: "argocd", Architecture: "amd64",
		OperatorImage: "registry.example.com/memcached-operator:0.1.0", MemcachedImage: "docker.io/library/memcached:1.6.45",
		AgentImage:   "registry.example.com/memcached-agent:0.1.0",
		CatalogImage: "registry.example.com/memcached-operator-catalog@sha256:" + strings.Repeat("0", 64),
	}
}

func TestOptionsAreCompleted(t *testing.T) {
	o := Options{
		Way: OLM, Registry: "localhost:5001/team/", Repo: "https://git.example.org/x.git", Architecture: "multiarch",
	}
	if err := o.Complete(settings()); err != nil {
		t.Fatal(err)
	}
	want := Options{
		Way: OLM, Registry: "localhost:5001/team", Repo: "https://git.example.org/x.git",
		Revision: "memcached-demo", MemcachedImage: "docker.io/library/memcached:1.6.45", Architecture: "multiarch",
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrongOptionsAreToldByTheirFlags(t *testing.T) {
	tests := map[string]struct {
		wrong func(*Options)
		want  []string
	}{
		"a way that there is not":             {func(o *Options) { o.Way = "helm" }, []string{`--method "helm"`, "olm-v1"}},
		"an architecture without an overlay":  {func(o *Options) { o.Architecture = "mips" }, []string{`--arch "mips"`, "s390x, multiarch"}},
		"no registry":                         {func(o *Options) { o.Registry = "" }, []string{`--registry ""`}},
		"a registry that is a URL":            {func(o *Options) { o.Registry = "https://r.example.org" }, []string{"--registry"}},
		"no repository":                       {func(o *Options) { o.Repo = "" }, []string{`--repo ""`}},
		"a password in the repository's URL":  {func(o *Options) { o.Repo = "https://a:b@g.example.org/x" }, []string{"--repo", "password"}},
		"a branch that Git does not allow":    {func(o *Options) { o.Revision = "a..b" }, []string{"--revision"}},
		"a namespace that is none":            {func(o *Options) { o.ArgoCDNamespace = "A b" }, []string{"--argocd-namespace"}},
		"a memcached image that is none":      {func(o *Options) { o.MemcachedImage = "A B" }, []string{"--memcached-image"}},
		"all that is wrong is told in one go": {func(o *Options) { o.Way, o.Repo = "x", "" }, []string{"--method", "--repo"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := Options{Way: Direct, Registry: "registry.example.org/team", Repo: "https://git.example.org/x.git"}
			tc.wrong(&o)
			err := o.Complete(settings())
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "--catalog-image") || strings.Contains(err.Error(), "--agent-image") || strings.Contains(err.Error(), "--version") {
				t.Errorf("%q names a flag that the demo does not have", err)
			}
		})
	}
}

func TestImagesOfAWay(t *testing.T) {
	tests := map[Way][]string{
		Direct: {
			"r.example.org/t/memcached-operator:demo", "r.example.org/t/memcached-agent:demo", "r.example.org/t/memcached-client:demo",
		},
		OLMv1: {
			"r.example.org/t/memcached-operator:demo", "r.example.org/t/memcached-agent:demo", "r.example.org/t/memcached-client:demo",
			"r.example.org/t/memcached-operator-bundle:demo", "r.example.org/t/memcached-operator-catalog:demo",
		},
	}
	for way, want := range tests {
		t.Run(string(way), func(t *testing.T) {
			o := Options{Way: way, Registry: "r.example.org/t"}
			if diff := cmp.Diff(want, o.Images().All()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnImageByDigestKeepsTheNameThatWasPushedTo(t *testing.T) {
	got := ByDigest("docker.io/team/memcached-operator:demo", "index.docker.io/team/memcached-operator@sha256:12")
	if want := "docker.io/team/memcached-operator@sha256:12"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
