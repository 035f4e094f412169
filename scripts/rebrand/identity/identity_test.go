package identity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// widgets is the identity of a project that is not this one, so that a rebrand of this one leaves the tests alone.
var widgets = Identity{
	Module: "example.net/team/widget-controller", Group: "parts.widgets.test", Registry: "localhost:5009/team",
	Name: "widget-controller",
}

func files() map[string]string {
	return map[string]string{
		"go.mod":   "module example.net/team/widget-controller\n\ngo 1.26.0\n",
		"Makefile": "VERSION ?= 0.1.0\nREGISTRY ?= localhost:5009/team\n",
		Project: "# A comment.\ndomain: widgets.test\nprojectName: widget-controller\nresources:\n" +
			"- domain: widgets.test\n  group: parts\n",
	}
}

func TestTheIdentityIsReadFromTheTree(t *testing.T) {
	got, err := Read(tree(t, files()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(widgets, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

func TestAFileWithoutItsNameIsReported(t *testing.T) {
	for name, want := range map[string]string{
		"go.mod":   "go.mod has no module path",
		"Makefile": "Makefile has no line REGISTRY ?= host/path",
		Project:    "PROJECT has no resource with group and domain",
	} {
		t.Run(name, func(t *testing.T) {
			broken := files()
			broken[name] = ""
			if _, err := Read(tree(t, broken)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error: %v, want %q", err, want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change Identity
		want   string // in the error; empty: valid
	}{
		"nothing else":                {Identity{}, ""},
		"a module on another host":    {Identity{Module: "git.widgets.test/x/y"}, ""},
		"a module that is a URL":      {Identity{Module: "https://git.widgets.test/x"}, "MODULE=https://git.widgets.test/x: not a module path"},
		"a module without a path":     {Identity{Module: "widgets.test"}, "MODULE=widgets.test: has no path after the host"},
		"a module of a later major":   {Identity{Module: "widgets.test/x/v2"}, "MODULE=widgets.test/x/v2: ends in a major version"},
		"a group of one label":        {Identity{Group: "parts"}, "GROUP=parts: has no dot"},
		"a group in upper case":       {Identity{Group: "Parts.widgets.test"}, "GROUP=Parts.widgets.test: a lowercase RFC 1123 subdomain"},
		"a group of Kubernetes":       {Identity{Group: "parts.x-k8s.io"}, ""},
		"a group below k8s.io":        {Identity{Group: "parts.k8s.io"}, "GROUP=parts.k8s.io: k8s.io is reserved for Kubernetes"},
		"a group that is too long":    {Identity{Group: strings.Repeat("parts.", 41) + "test"}, "is too long for the name of the CustomResourceDefinition"},
		"a registry alone":            {Identity{Registry: "registry.widgets.test"}, ""},
		"a registry with a port":      {Identity{Registry: "localhost:5001"}, ""},
		"a registry that is a URL":    {Identity{Registry: "https://registry.widgets.test"}, "is a URL: leave out the scheme"},
		"a registry without a host":   {Identity{Registry: "team"}, "REGISTRY=team: names no host"},
		"a registry in upper case":    {Identity{Registry: "registry.widgets.test/Team"}, "repository name must be lowercase"},
		"a registry with a tag":       {Identity{Registry: "registry.widgets.test/x:1"}, "REGISTRY=registry.widgets.test/x:1: "},
		"a name in upper case":        {Identity{Name: "Widgets"}, "NAME=Widgets: a DNS-1035 label"},
		"a name that starts with 2":   {Identity{Name: "2widgets"}, "NAME=2widgets: a DNS-1035 label"},
		"a name with a dot":           {Identity{Name: "widgets.test"}, "NAME=widgets.test: a DNS-1035 label"},
		"a name longer than a label":  {Identity{Name: strings.Repeat("w", 64)}, "must be no more than 63"},
		"a name that contains itself": {Identity{Name: "my-widget-controller"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := widgets.With(tc.change).Validate()
			if tc.want == "" && err != nil {
				t.Errorf("error: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error: %v\nwant %q", err, tc.want)
			}
		})
	}
}

func TestTheLongestObjectNameLimitsTheProjectName(t *testing.T) {
	longest := widgets.LongestName("a: widget-controller-metrics\nb: widget-controller\nc: the-widget-controller-metrics-service.x")
	if longest != "the-widget-controller-metrics-service" {
		t.Errorf("longest name: %s", longest)
	}
	if err := widgets.Fits(Identity{Name: strings.Repeat("w", 43)}, longest); err != nil {
		t.Errorf("43 characters: %v", err)
	}
	err := widgets.Fits(Identity{Name: strings.Repeat("w", 44)}, longest)
	if err == nil || !strings.Contains(err.Error(), "would have 64 characters") || !strings.Contains(err.Error(), "use at most 43") {
		t.Errorf("44 characters: %v", err)
	}
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
