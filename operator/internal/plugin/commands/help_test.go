package commands

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestEachCommandHasHelpWithAnExample(t *testing.T) {
	root := New(genericiooptions.NewTestIOStreamsDiscard(), "1.2.3")
	for _, command := range root.Commands() {
		if command.Short == "" || command.Long == "" || !strings.Contains(command.Example, "kubectl memcached "+command.Name()) {
			t.Errorf("%s: help %q, example %q", command.Name(), command.Long, command.Example)
		}
	}
}

func TestTheHelpOfACommandFitsAScreen(t *testing.T) {
	for _, command := range New(genericiooptions.NewTestIOStreamsDiscard(), "1.2.3").Commands() {
		out, err := run(t, &fleet{}, command.Name(), "--help")
		const most = 40
		if lines := strings.Count(out, "\n"); err != nil || lines > most || strings.Contains(out, "--insecure-skip-tls-verify") {
			t.Errorf("%s: %d lines, %v, or it has the flags of a connection:\n%s", command.Name(), lines, err, out)
		}
		if want := "The flags of a connection, such as -n and --context, are those of kubectl"; !strings.Contains(out, want) {
			t.Errorf("%s: %q is missing", command.Name(), want)
		}
	}
	if out, _ := run(t, &fleet{}, "help"); !strings.Contains(out, "--insecure-skip-tls-verify") {
		t.Errorf("no help has the flags of a connection:\n%s", out)
	}
}
