package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func TestTheCommandWritesTheSettingsOnce(t *testing.T) {
	shipped := page.Read(t, "values/testdata/settings.yaml")
	t.Chdir(t.TempDir())
	tree.Write(t, ".", map[string]string{values.Path: shipped})
	for _, tc := range []struct{ registry, want string }{
		{"https://x", "leave out the scheme"},
		{"registry.acme.test/team", "Commit and push it"},
		{"registry.acme.test/team", "already had these values"},
	} {
		var out bytes.Buffer
		command := newCommand()
		command.SetArgs(strings.Fields("--repo https://git.acme.test/a.git --revision v1 --registry " + tc.registry))
		command.SetOut(&out)
		if err := command.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), tc.want) {
			t.Errorf("%q is missing in:\n%s", tc.want, out.String())
		}
	}
	if file := tree.Read(t, ".")[values.Path]; !strings.Contains(file, ": registry.acme.test/team/memcached-operator:0.1.0\n") {
		t.Error(file)
	}
}
