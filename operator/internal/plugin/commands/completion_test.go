package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestANameIsCompleted(t *testing.T) {
	f := &fleet{items: []cachev1.Memcached{large(1), large(2)}}
	for _, arguments := range [][]string{
		{"status", ""}, {"why", ""}, {"pause", "cache"}, {"owner", "key", "--cache", ""}, {"update", ""}, {"cutover", ""}, {"report", ""},
	} {
		out, err := run(t, f, append([]string{cobra.ShellCompNoDescRequestCmd, "-n", "team"}, arguments...)...)
		if err != nil || !strings.HasPrefix(out, "cache-0001\ncache-0002\n:4\n") {
			t.Errorf("%q: got %q, %v", arguments, out, err)
		}
	}
}

func TestTheFormatsOfACommandAreCompleted(t *testing.T) {
	for arguments, want := range map[string]string{
		"status -o": "json\nyaml\nwide\n:4\n", "why --output": "json\nyaml\n:4\n", "import --chart": "bitnami\ncloudpirates\nhelmforge\n:4\n",
	} {
		out, err := run(t, &fleet{}, append(append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Fields(arguments)...), "")...)
		if err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("%s: got %q, %v", arguments, out, err)
		}
	}
}

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: east, cluster: {server: "http://east"}}, {name: west, cluster: {server: "http://west"}}]
users: [{name: me, user: {}}]
contexts: [{name: prod, context: {cluster: east, user: me}}, {name: dev, context: {cluster: west, user: me}}]
`

func TestTheValuesOfFlagsAreCompleted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	mc := large(1)
	mc.Status.Slots = mc.Status.Slots[:2]
	const noFiles, files = ":4\n", ":0\n"
	for arguments, want := range map[string]string{
		"status -n":                       "team\nother\n" + noFiles,
		"status --context":                "dev\nprod\n" + noFiles,
		"status --cluster":                "east\nwest\n" + noFiles,
		"status --user":                   "me\n" + noFiles,
		"owner --hash":                    "Ketama\nCRC32Modulo\nJumpSorted\nRendezvous\n" + noFiles,
		"flush cache-0001 -n team --slot": "cache-0001-0\ncache-0001-1\n" + noFiles,
		"flush --slot":                    noFiles,
		"flush none -n team --slot":       noFiles,
		"restart --dry-run=":              "none\nserver\n" + noFiles,
		"top --interval":                  noFiles,
		"status --as":                     noFiles,
		"diff":                            noFiles,
		"diff -f":                         files,
		"report cache-0001 -o":            files,
		"top --memcached-ca":              files,
		"status --kubeconfig":             files,
	} {
		given := append([]string{cobra.ShellCompNoDescRequestCmd, "--kubeconfig=" + file}, strings.Fields(arguments)...)
		if !strings.HasSuffix(arguments, "=") {
			given = append(given, "")
		}
		f := &fleet{items: []cachev1.Memcached{mc}, namespaces: []string{"team", "other"}}
		out, err := run(t, f, given...)
		if err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("%s: got %q, %v, want %q", arguments, out, err, want)
		}
	}
}

func TestAShellDoesNotWaitForAnAPIServerThatDoesNotAnswer(t *testing.T) {
	began := time.Now()
	out, err := run(t, &fleet{mute: true}, cobra.ShellCompNoDescRequestCmd, "-n", "team", "status", "")
	if err != nil || !strings.HasPrefix(out, ":4\n") {
		t.Errorf("files are completed: %q, %v", out, err)
	}
	if took := time.Since(began); took > 2*completionTimeout {
		t.Errorf("it took %s", took)
	}
}
