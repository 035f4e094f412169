package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func TestInitWritesTheSettingsOnce(t *testing.T) {
	shipped, err := os.ReadFile("values/testdata/settings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(values.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(values.Path, shipped, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ registry, want string }{
		{"https://x", "leave out the scheme"},
		{"registry.acme.test/team", "Commit and push it"},
		{"registry.acme.test/team", "had these values already"},
	} {
		var out bytes.Buffer
		command := newCommand()
		command.SetArgs(strings.Fields("init --repo https://git.acme.test/a.git --revision v1 --registry " + tc.registry))
		command.SetOut(&out)
		if err := command.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), tc.want) {
			t.Errorf("%q is missing in:\n%s", tc.want, out.String())
		}
	}
	written, err := values.Read(".")
	if err != nil || written.Revision != "v1" || written.OperatorImage != "registry.acme.test/team/memcached-operator:0.1.0" {
		t.Errorf("%v: %+v", err, written)
	}
}
