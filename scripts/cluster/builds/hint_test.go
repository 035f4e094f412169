package builds

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestAFailureThatTheCodeIsNotToBlameForComesWithAHint(t *testing.T) {
	tests := map[string]struct{ output, err, want string }{
		"a full disk, as the compiler reports it": {
			"open /cache/x: no space left on device", "exit status 1", "The disk is full. Free some space",
		},
		"a proxy without an address": {
			`Get "https://proxy.example.com/m": dial tcp: lookup proxy.example.com: no such host`, "exit status 1", "go env GOPROXY",
		},
		"a process that the kernel ended": {"", "signal: killed", "for want of memory"},
		"a mistake in the code":           {"undefined: y", "exit status 1", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := failure(exec.Command("go", "build"), []byte(tc.output), errors.New(tc.err)).Error()
			if tc.want == "" && strings.Contains(got, "run it again") {
				t.Errorf("a hint that helps nobody: %s", got)
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("failure() = %q, want %q in it", got, tc.want)
			}
		})
	}
}
