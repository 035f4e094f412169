package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	current := []string{"--cluster", "current", "--registry", "r.example.org/t", "--repo", "https://git.example.org/x.git"}
	tests := map[string]struct {
		args []string
		want string
	}{
		"a cluster that there is not":          {[]string{"--cluster", "kind"}, `--cluster "kind": choose local or current`},
		"a registry for the local cluster":     {[]string{"--registry", "r.example.org", "--yes"}, "--registry, --yes: only with --cluster current"},
		"a name for the current cluster":       {append(current, "--name", "x"), "--name: only with --cluster local"},
		"an Argo CD for the current cluster":   {append(current, "--argocd-version", "3.2"), "--argocd-version: only with --cluster local"},
		"a format that there is not":           {append(current, "--output", "yaml"), `--output "yaml": text and json`},
		"json of what is no check":             {append(current, "--output", "json"), "--check-only"},
		"a way that there is not":              {append(current, "--method", "helm"), `--method "helm"`},
		"no registry, and no repository":       {[]string{"--cluster", "current"}, `--registry ""`},
		"an argument that nothing is known of": {[]string{"now"}, `unknown command "now"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			command := newCommand()
			command.SetArgs(append([]string{"up"}, tc.args...))
			var out bytes.Buffer
			command.SetOut(&out)
			err := command.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestHelpHasAnExampleOfBothClusters(t *testing.T) {
	command := newCommand()
	command.SetArgs([]string{"up", "--help"})
	var out bytes.Buffer
	command.SetOut(&out)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sudo go run ./scripts/demo up\n", "--cluster current --method direct", "--check-only -o json"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %s", want)
		}
	}
}
