package commands

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
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

func TestTheHelpFitsANarrowTerminal(t *testing.T) {
	const columns = 80
	root := New(genericiooptions.NewTestIOStreamsDiscard(), "1.2.3")
	root.SetUsageTemplate(new(cobra.Command).UsageTemplate()) // As it was before.
	p := &plugin{screen: screen.Screen{Columns: columns}}
	p.help(root)
	for _, command := range root.Commands() {
		text := command.Long + "\n" + command.UsageString()
		for line := range strings.Lines(text) {
			if len(line) > columns+1 && !strings.Contains(command.Example, strings.TrimSpace(line)) {
				t.Errorf("%s: a terminal breaks %q", command.Name(), line)
			}
		}
	}
}
