package tutorial

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMakeHelpFitsATerminal(t *testing.T) {
	const columns = 100
	out, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	targets, colors := 0, regexp.MustCompile("\x1b\\[[0-9;]*m")
	for line := range strings.Lines(colors.ReplaceAllString(string(out), "")) {
		line = strings.TrimSuffix(line, "\n")
		if length := utf8.RuneCountInString(line); length > columns {
			t.Errorf("%d columns, more than %d: %s", length, columns, line)
		}
		if strings.HasPrefix(line, "  ") {
			targets++
		}
	}
	if targets < 30 {
		t.Errorf("make help lists %d targets:\n%s", targets, out)
	}
}

// TestPlaceholdersOfImagesAreRefused: without a registry from the user, the image names use the example registry, from
// which no Node can pull them.
func TestPlaceholdersOfImagesAreRefused(t *testing.T) {
	for target, fix := range map[string]string{
		"run": "make run REGISTRY=YOUR-REGISTRY", "deploy": "make deploy REGISTRY=YOUR-REGISTRY",
	} {
		command := exec.CommandContext(t.Context(), "make", "-C", "../..", target)
		command.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull, "MAKEFLAGS=")
		out, err := command.CombinedOutput()
		for _, want := range []string{"Nothing was changed", "make image REGISTRY=YOUR-REGISTRY", fix} {
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("make %s does not fail with %q, but: %v\n%s", target, want, err, out)
			}
		}
		for _, variable := range []string{"IMG=example.com/a/operator:1", "REGISTRY=example.com/a"} {
			if commands := commandsOf(t, target, variable); strings.Contains(commands, "placeholder") {
				t.Errorf("make %s %s is refused:\n%s", target, variable, commands)
			}
		}
	}
	if commands := commandsOf(t, "run", "AGENT_IMG=example.com/a/agent:1"); strings.Contains(commands, "placeholder") {
		t.Errorf("make run is refused, although it needs no other image than the agent's:\n%s", commands)
	}
}

func TestTheDemoSaysThatItIsCompiled(t *testing.T) {
	commands := commandsOf(t, "demo")
	before, _, found := strings.Cut(commands, "go run ./scripts/demo")
	if !found || !strings.Contains(before, "echo 'The demo is compiled first") {
		t.Errorf("make demo prints nothing before it compiles:\n%s", commands)
	}
}
