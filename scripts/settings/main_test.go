package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shipped is the settings file as the repository ships it.
const shipped = "values/testdata/settings.yaml"

// mine is what a user has after an init.
func mine(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out := run("init", "--file", path, "--repo", "https://git.acme.test/a.git", "--revision", "main",
		"--registry", "registry.acme.test/team")
	if !strings.Contains(out, "Commit and push it") {
		t.Fatal(out)
	}
	return path
}

// examples are settings with a registry that is an example, whatever the shipped one is.
func examples(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "settings.yaml")
	example := strings.ReplaceAll(string(text), "registry.example.com/", "images.example.com/")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run returns what the program prints, its error included.
func run(args ...string) string {
	var out bytes.Buffer
	command := newCommand()
	command.SetArgs(args)
	command.SetOut(&out)
	if err := command.Execute(); err != nil {
		out.WriteString(err.Error())
	}
	return out.String()
}

func TestShow(t *testing.T) {
	mine := mine(t)
	broken := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(broken, []byte("data: {repoURL: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args    []string
		want    []string
		wantNot string
	}{
		"placeholders are called so":        {args: []string{"--file", examples(t)}, want: []string{"revision         main", "Still placeholders: repoURL, operatorImage, agentImage, catalogImage"}},
		"values of one's own need no note":  {args: []string{"--file", mine}, want: []string{"registry.acme.test/team"}, wantNot: "placeholder"},
		"JSON for programs":                 {args: []string{"--file", mine, "-o", "json"}, want: []string{`"revision": "main"`, `"placeholders": []`}},
		"an unknown format is refused":      {args: []string{"--file", mine, "-o", "xml"}, want: []string{"text and json"}},
		"a file that is not there is named": {args: []string{"--file", "nowhere.yaml"}, want: []string{"nowhere.yaml does not exist", "--file"}},
		"a key that is gone is named":       {args: []string{"--file", broken}, want: []string{broken, "is missing"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out := run(append([]string{"show"}, tc.args...)...)
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("output does not say %q:\n%s", want, out)
				}
			}
			if tc.wantNot != "" && strings.Contains(out, tc.wantNot) {
				t.Errorf("output says %q:\n%s", tc.wantNot, out)
			}
		})
	}
}
